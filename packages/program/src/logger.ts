import { pino, type Logger, type LoggerOptions } from "pino"

type LogLevel = "debug" | "info" | "warn" | "error" | "silent"

const batchBytes = 8192
const longestWaitMs = 250
const mostWaitingBytes = 2 ** 20

/**
 * Makes the service's logger: one JSON line an event on stdout, or, when `pretty`, readable lines without the requests that
 * succeeded. JSON lines are written in batches, at most a quarter of a second late, and all of them, in order, before the process
 * ends by itself or `flush` calls back; `process.exit()` and an error that nobody catches can lose the batch that is being written.
 */
export const createLogger = async ({
  level,
  pretty,
  service,
}: {
  readonly level: LogLevel
  readonly pretty: boolean
  readonly service: string
}): Promise<Logger> => {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  if (pretty) return pino({ ...options, hooks: { logMethod: unlessSucceeded } }, await prettyStream())
  return pino(options, batches())
}

// On a full disk the service goes on: at most a mebibyte of lines waits and is written when there is room again, later lines are lost.
const batches = () => {
  const limits = { minLength: batchBytes, periodicFlush: longestWaitMs, maxLength: mostWaitingBytes }
  const destination = pino.destination({ sync: false, ...limits })
  const flushSync = destination.flushSync.bind(destination)
  // The library's flush while the process exits would block it until there is room.
  destination.on("error", () => (destination.flushSync = () => {}))
  destination.on("write", () => (destination.flushSync = flushSync))
  return destination
}

// At a terminal they would push away what matters.
const unlessSucceeded: Required<NonNullable<LoggerOptions["hooks"]>>["logMethod"] = function (args, log) {
  const [fields, text]: unknown[] = args
  if (text !== "request" || Object(fields).status >= 400) log.apply(this, args)
}

// Loaded only for a person at a terminal.
const prettyStream = async () => {
  const { default: pretty } = await import("pino-pretty")
  return pretty({ colorize: true, ignore: "pid,hostname,service", translateTime: "SYS:HH:MM:ss", sync: true })
}
