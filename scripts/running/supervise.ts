// Runs services as children of this process: either all run, or all are stopped.
import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { pathToFileURL } from "node:url"

import { reachableHost } from "../../infra/services.ts"
import { readableLine } from "./log-line.ts"
import type { PlannedService } from "./start-plan.ts"

const preload = pathToFileURL(join(import.meta.dirname, "../stop-with-parent.ts")).href

/** In the order in which others need them. */
const inOrder = (planned: readonly PlannedService[]): readonly PlannedService[] =>
  planned.toSorted((a, b) => (a.service.needs?.length ?? 0) - (b.service.needs?.length ?? 0))

/** Whether a port can be listened on now, at the address where the services will listen. */
export const portIsFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })

type Options = {
  readonly root: string
  /** Called with one line for people. */
  readonly write: (line: string) => void
  /** Whether successful requests are omitted. */
  readonly isQuiet?: boolean
  /** How long a service may take to become ready. */
  readonly patienceMs: number
  /** What must end before a service starts, by its name; resolves to an error, if there is one. */
  readonly before?: Readonly<Record<string, Promise<string | undefined>>>
}

/**
 * Starts the services from their folders under `root`, each once those that it needs are ready. Children are detached,
 * because a terminal sends Ctrl-C to the whole process group. So they get it once, from here. A service that ends by itself
 * stops all.
 */
export const supervise = (
  planned: readonly PlannedService[],
  { root, write, patienceMs, isQuiet, before = {} }: Options,
) => {
  const width = Math.max(...planned.map(({ service }) => service.name.length))
  const stopped = new AbortController()
  let exitCode = 0

  const children: ChildProcess[] = []
  const run = ({ service, env }: PlannedService): Promise<void> => {
    const child = spawn(process.execPath, ["--import", preload, "src/main.ts"], {
      cwd: join(root, service.folder),
      detached: true,
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    })
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on("line", (line) => {
        const shown = readableLine(line, isQuiet)
        if (shown !== undefined) write(`${service.name.padEnd(width)} | ${shown}`)
      })
    }
    children.push(child)
    return new Promise<void>((resolve) => {
      child.once("error", (error) => fail(`${service.name} could not be started: ${error.message}`))
      child.once("close", (code, signal) => {
        fail(`${service.name} ended (${signal ?? `exit code ${code}`}); stopping the others`)
        resolve()
      })
    })
  }

  const signalAll = (signal: NodeJS.Signals): void => {
    for (const child of children) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue
      try {
        // The process group, with everything that the service has started.
        process.kill(-child.pid, signal)
      } catch {
        // It has just ended.
      }
    }
  }
  /** Stops every service with one SIGTERM each. */
  const stop = (): void => {
    if (stopped.signal.aborted) return
    stopped.abort()
    signalAll("SIGTERM")
  }
  /** An error during a stop isn't a failure. */
  const fail = (reason: string): void => {
    if (stopped.signal.aborted) return
    write(reason)
    exitCode = 1
    stop()
  }

  const becomesReady = async ({ service, env, port }: PlannedService): Promise<void> => {
    const url = `http://${reachableHost(env["HOST"])}:${port}${service.readyPath}`
    const until = performance.now() + patienceMs
    // A service may log every failed probe, so the pauses grow.
    let pauseMs = 100
    while (!stopped.signal.aborted) {
      const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(2000)])
      const answer = await fetch(url, { signal }).catch(() => undefined)
      if (answer?.ok) return write(`${service.name.padEnd(width)} | ready`)
      if (performance.now() > until)
        return fail(`${service.name} is not ready after ${patienceMs / 1000} s; stopping all`)
      await delay(pauseMs, undefined, { signal: stopped.signal }).catch(() => {})
      pauseMs = Math.min(1.5 * pauseMs, 500)
    }
  }

  const readiness = new Map<string, Promise<void>>()
  const ends = inOrder(planned).map((one) => {
    const { name, needs = [] } = one.service
    const begun = Promise.all([before[name], ...needs.map((need) => readiness.get(need))]).then(([fault]) => {
      if (fault !== undefined) fail(fault)
      return stopped.signal.aborted ? undefined : { exited: run(one) }
    })
    readiness.set(
      name,
      begun.then((started) => (started === undefined ? undefined : becomesReady(one))),
    )
    return begun.then((started) => started?.exited)
  })
  /** True once every service is ready, false when the start failed or was stopped. */
  const ready = Promise.all(readiness.values()).then(() => !stopped.signal.aborted)
  /** Resolves when no child is left: 0 after a requested stop, 1 after a failure. */
  const ended = Promise.all(ends).then(() => exitCode)
  /** Ends every service at once. */
  const kill = (): void => {
    exitCode = 1
    stop()
    signalAll("SIGKILL")
  }
  return { ready, ended, stop, kill }
}
