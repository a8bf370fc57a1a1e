import { write, writeSync } from "node:fs"
import { oneLine, visibleJson, withoutUnseen } from "@svc/common/foreign-text"
import { pino, type Logger, type LoggerOptions } from "pino"

type LogLevel = "debug" | "info" | "warn" | "error" | "silent"

const batchBytes = 8192
const longestWaitMs = 250
const mostWaiting = 2 ** 20
// For a reader that has stopped, a process that ends waits a second.
const lastTries = 4
const stdout = 1

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
  return pino(options, (output ??= batches()))
}

/**
 * Standard output for pino, whose own destination tries without end while the process exits. While nothing can be written, on a full
 * disk or without a reader, the service goes on: at most a mebibyte of lines waits, and later lines are lost.
 */
const batches = () => {
  let waiting = ""
  let batch = Buffer.alloc(0)
  let isWriting = false
  let tries = 0
  const flushed: ((error?: Error) => void)[] = []

  const finish = (error: NodeJS.ErrnoException | null, written: number): void => {
    isWriting = false
    batch = batch.subarray(written)
    tries = error?.code === "EAGAIN" && flushed.length > 0 ? tries + 1 : 0
    if (error?.code === "EAGAIN" && tries < lastTries) setTimeout(begin, longestWaitMs)
    else if (error) flushed.splice(0).forEach((call) => call(error))
    else if (batch.length > 0 || waiting.length >= batchBytes || flushed.length > 0) begin()
  }
  const begin = (): void => {
    if (isWriting) return
    if (batch.length === 0) [batch, waiting] = [Buffer.from(waiting), ""]
    if (batch.length === 0) return flushed.splice(0).forEach((call) => call())
    isWriting = true
    write(stdout, batch, finish)
  }
  setInterval(begin, longestWaitMs).unref()
  process.once("exit", () => {
    let rest = Buffer.concat([isWriting ? Buffer.alloc(0) : batch, Buffer.from(waiting)])
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(stdout, rest))
    } catch {
      // There is nowhere to say so.
    }
  })
  return {
    write: (line: string): void => {
      if (waiting.length < mostWaiting) waiting += isPlain.test(line) ? line : visibleJson(line)
      if (waiting.length >= batchBytes) begin()
    },
    flush: (call: (error?: Error) => void): void => {
      flushed.push(call)
      begin()
    },
  }
}

// Nearly all lines are.
const isPlain = /^[\n\x20-\x7e]*$/

// The process has one standard output.
let output: ReturnType<typeof batches> | undefined

// At a terminal they would push away what matters.
const unlessSucceeded: Required<NonNullable<LoggerOptions["hooks"]>>["logMethod"] = function (args, log) {
  const [fields, text]: unknown[] = args
  if (text !== "request" || Object(fields).status >= 400) log.apply(this, args)
}

// Loaded only for a person at a terminal.
const prettyStream = async () => {
  const { default: pretty } = await import("pino-pretty")
  const lines = pretty({ colorize: true, ignore: "pid,hostname,service", translateTime: "SYS:HH:MM:ss", sync: true })
  return { write: (line: string) => void lines.write(`${JSON.stringify(JSON.parse(line), shownText)}\n`) }
}

// What others wrote, such as the name of a field, doesn't control the terminal and begins no line. A stack has several.
const shownText = (name: string, value: unknown): unknown => {
  if (typeof value !== "string") return value
  return name === "stack" ? withoutUnseen(value.replaceAll(/(?![\n\t])\p{Cc}/gu, "")) : oneLine(value)
}
