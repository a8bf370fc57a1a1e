import { randomBytes, randomUUID } from "node:crypto"
import type { Logger } from "pino"

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

/** The runtime of this process. */
export const processRuntime = (): Runtime => ({
  env: process.env,
  terminal: process.stdout.isTTY,
  wallClock: () => Date.now(),
  now: () => performance.now(),
  random: Math.random,
  randomBytes,
  randomId: randomUUID,
})

/**
 * Runs a service until SIGTERM or SIGINT: exit code 0 after an orderly stop, 1 when the start failed, whose reason goes
 * to stderr. A second signal stops at once.
 * @param start brings the service up and returns how to stop it
 */
export const runService = async (
  start: () => Promise<{ readonly log: Logger; readonly close: () => Promise<void> }>,
): Promise<void> => {
  // The signal's own way first: an exit waits for threads, and one may be waiting for a pipe that nobody writes to. As the
  // first process of a container the signal does nothing to it.
  const early = (signal: NodeJS.Signals): void => {
    process.kill(process.pid, signal)
    setTimeout(() => process.exit(1), 100)
  }
  const signals = ["SIGTERM", "SIGINT"] as const
  for (const signal of signals) process.once(signal, early)
  try {
    const { log, close } = await start()
    let stopping = false
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
      // The logger's own last flush, while the process exits, tries without end when the log's reader is gone; this one
      // learns of it, and then there is nothing left to flush.
      void closed.then((code) => log.flush(() => process.exit(code)))
    }
    for (const signal of signals) {
      // In this order: without any listener Node would drop a signal that has come while the start kept it busy.
      process.on(signal, () => stop(signal))
      process.removeListener(signal, early)
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}
