import { pino, type DestinationStream, type Logger as PinoLogger } from "pino"

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent"

/** What one request leaves in the log. */
export type RequestLine = {
  /** Of letters, digits and `_.-`. */
  readonly request_id: string
  /** One that Node's parser knows, or `-`. */
  readonly method: string
  /** The route's pattern, never the path. */
  readonly route: string
  readonly status: number
  readonly duration_ms: number
  /** 32 hexadecimal digits, where telemetry is on. */
  readonly trace_id?: string | undefined
}

export type Logger = PinoLogger & {
  /** Writes a request's line: what `log.info(line, "request")` would, in a third of the time. */
  readonly request: (level: "debug" | "info" | "error", line: RequestLine) => void
}

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
  const stream = pretty ? await prettyStream() : batchedStream()
  const logger = pino(options, stream)
  const name = JSON.stringify(service)
  // Routes are few and known: each is written as JSON once.
  const routes = new Map<string, string>()
  const ofRoute = (route: string): string => {
    const known = routes.get(route)
    if (known !== undefined) return known
    const text = JSON.stringify(route)
    routes.set(route, text)
    return text
  }
  return Object.assign(logger, {
    request: (at: "debug" | "info" | "error", line: RequestLine): void => {
      if (!logger.isLevelEnabled(at)) return
      const { request_id, method, route, status, duration_ms, trace_id } = line
      const trace = trace_id === undefined ? "" : `,"trace_id":"${trace_id}"`
      const what = `"request_id":"${request_id}","method":"${method}","route":${ofRoute(route)}`
      stream.write(
        `{"level":"${at}"${timestamp()},"service":${name},${what},"status":${status},"duration_ms":${duration_ms}${trace},"msg":"request"}\n`,
      )
    },
  })
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

const batchedStream = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: 16_000, periodicFlush: 250 })
