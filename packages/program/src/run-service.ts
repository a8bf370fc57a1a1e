import { randomBytes, randomUUID } from "node:crypto"
import { SetupError } from "@svc/config"
import type { Logger } from "pino"

const askDoctor = "Run the command `doctor`, which checks what the service needs."

/** What a service has of its process. It enters in `main.ts`, and in tests as they like. */
export type Runtime = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person reads the log. */
  readonly terminal: boolean
  /** Wall clock, in milliseconds since 1970. */
  readonly wallClock: () => number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** From 0 to 1, for what may be guessed. */
  readonly random: () => number
  readonly randomBytes: (size: number) => Uint8Array
  /** A UUID. */
  readonly randomId: () => string
}

/** The runtime of this process, for tests with these variables alone. */
export const processRuntime = (env: Runtime["env"] = process.env): Runtime => ({
  env,
  terminal: process.stdout.isTTY,
  wallClock: () => Date.now(),
  now: () => performance.now(),
  random: Math.random,
  randomBytes,
  randomId: randomUUID,
})

/** A service that runs: its logger, and how to stop it. */
export type Running = { readonly log: Logger; readonly close: () => Promise<void> }

/**
 * Runs a service until SIGTERM, SIGINT or SIGHUP: exit code 0 after an orderly stop, 1 when the start failed. Its reason goes to
 * stderr as one JSON line, with the setting and the next step; for a person at a terminal as text. A second signal stops at once.
 * @param start brings the service up and returns how to stop it. One that serves before it is complete calls `onOpen` with that
 */
export const runService = async (
  service: string,
  start: (onOpen: (running: Running) => void) => Promise<Running>,
): Promise<void> => {
  // The signal's own way first: an exit waits for threads, and one may be waiting for a pipe that nobody writes to. As the
  // first process of a container the signal does nothing to it.
  const early = (signal: NodeJS.Signals): void => {
    process.kill(process.pid, signal)
    setTimeout(() => process.exit(1), 100)
  }
  // Without a listener a closed terminal, or the rotation of a log, would cut off requests.
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const
  for (const signal of signals) process.once(signal, early)
  let isOpen = false
  let stopping = false
  const onOpen = ({ log, close }: Running): void => {
    if (isOpen) return
    isOpen = true
    const stop = (signal: string): void => {
      if (stopping) process.exit(1)
      stopping = true
      log.info({ signal }, "stopping")
      const closed = close().then(
        () => {
          log.info("stopped")
          return 0
        },
        (error: unknown) => {
          log.error({ err: error }, "the stop failed")
          return 1
        },
      )
      // The exit alone would lose the batch that is being written.
      void closed.then((code) => log.flush(() => process.exit(code)))
    }
    for (const signal of signals) {
      // In this order: without any listener Node would drop a signal that has come while the start kept it busy.
      process.on(signal, () => stop(signal))
      process.removeListener(signal, early)
    }
  }
  try {
    onOpen(await start(onOpen))
  } catch (error) {
    // A start that the stop has overtaken.
    if (stopping) return
    const reason = error instanceof Error ? error.message : String(error)
    const known = error instanceof SetupError ? { setting: error.setting, next: error.next } : { next: askDoctor }
    const line = { level: "error", time: new Date().toISOString(), service, reason, ...known, msg: "the start failed" }
    process.stderr.write(process.stderr.isTTY ? `${reason}\n${known.next}\n` : `${JSON.stringify(line)}\n`)
    process.exit(1)
  }
}
