// Runs services as children of this process: either all run, or all are stopped.
import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { pathToFileURL } from "node:url"

import { nodeFlags, reachableHost } from "../../infra/services.ts"
import { readableLine } from "./log-line.ts"
import type { PlannedService } from "./start-plan.ts"

const preload = pathToFileURL(join(import.meta.dirname, "../stop-with-parent.ts")).href

/** Whether a port can be listened on now, at the address where the services will listen. */
export const portIsFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })

/**
 * Starts the services from their folders under `root`. Children are detached, because a terminal sends Ctrl-C to the whole
 * process group: so they get it once, from here. A service that ends by itself stops all.
 * @param write takes one line for people
 * @param patienceMs how long a service may take until it is ready
 */
export const supervise = (
  planned: readonly PlannedService[],
  { root, write, patienceMs }: { root: string; write: (line: string) => void; patienceMs: number },
) => {
  const width = Math.max(...planned.map(({ service }) => service.name.length))
  const stopped = new AbortController()
  let exitCode = 0

  const children = planned.map(({ service, env, port }) => {
    const child = spawn(process.execPath, [...nodeFlags, "--import", preload, "src/main.ts"], {
      cwd: join(root, service.folder),
      detached: true,
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    })
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on("line", (line) =>
        write(`${service.name.padEnd(width)} | ${readableLine(line)}`),
      )
    }
    const exited = new Promise<void>((resolve) => {
      child.once("error", (error) => fail(`${service.name} could not be started: ${error.message}`))
      child.once("close", (code, signal) => {
        if (!stopped.signal.aborted)
          fail(`${service.name} ended (${signal ?? `exit code ${code}`}); stopping the others`)
        resolve()
      })
    })
    return {
      service,
      port,
      child,
      exited,
      readyUrl: `http://${reachableHost(env["HOST"])}:${port}${service.readyPath}`,
    }
  })

  const signalAll = (signal: NodeJS.Signals): void => {
    for (const { child } of children) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue
      try {
        // The process group, with everything that the service has started.
        process.kill(-child.pid, signal)
      } catch {
        // It has just ended.
      }
    }
  }
  /** Asks every service to stop: one SIGTERM each. */
  const stop = (): void => {
    if (stopped.signal.aborted) return
    stopped.abort()
    signalAll("SIGTERM")
  }
  const fail = (reason: string): void => {
    write(reason)
    exitCode = 1
    stop()
  }

  const becomesReady = async (name: string, url: string): Promise<void> => {
    const until = performance.now() + patienceMs
    // A service may log every failed probe, so the pauses grow.
    let pauseMs = 100
    while (!stopped.signal.aborted) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
      if (answer?.ok) return
      if (performance.now() > until) return fail(`${name} is not ready after ${patienceMs / 1000} s; stopping all`)
      await delay(pauseMs)
      pauseMs = Math.min(1.5 * pauseMs, 500)
    }
  }
  /** True once every service is ready, false when the start failed or was stopped. */
  const ready = Promise.all(children.map(({ service, readyUrl }) => becomesReady(service.name, readyUrl))).then(
    () => !stopped.signal.aborted,
  )
  /** Resolves when no child is left: 0 after a stop that was asked for, 1 after a failure. */
  const ended = Promise.all(children.map(({ exited }) => exited)).then(() => exitCode)
  /** Ends every service at once. */
  const kill = (): void => {
    exitCode = 1
    stop()
    signalAll("SIGKILL")
  }
  return { ready, ended, stop, kill }
}
