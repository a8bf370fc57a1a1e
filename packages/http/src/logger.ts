import { pino, type DestinationStream, type Logger as PinoLogger } from "pino"

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent"
export type Logger = PinoLogger

/**
 * Makes the service's logger: one JSON line an event on stdout, or readable lines when `pretty`. Lines are written in
 * batches, at most a quarter of a second late, and all of them before the process exits.
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
    timestamp,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return pino(options, pretty ? await prettyStream() : batchedStream())
}

// Under load many lines fall into one millisecond: its text is made once.
let stamped = Number.NaN
let stamp = ""
const timestamp = (): string => {
  const time = Date.now()
  if (time !== stamped) stamp = `,"time":"${new Date(time).toISOString()}"`
  stamped = time
  return stamp
}

// Loaded only for a person at a terminal.
const prettyStream = async (): Promise<DestinationStream> => {
  const { default: pretty } = await import("pino-pretty")
  return pretty({ colorize: true, ignore: "pid,hostname,service", translateTime: "SYS:HH:MM:ss", sync: true })
}

const batchedStream = (): DestinationStream => {
  const destination = pino.destination({ dest: 1, sync: false, minLength: 16_000, periodicFlush: 250 })
  process.on("exit", () => {
    try {
      destination.flushSync()
    } catch {
      // The reader of stdout is gone: there is nobody left to tell.
    }
  })
  return destination
}
