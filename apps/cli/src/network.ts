import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http"
import { pipeline, type Readable } from "node:stream"
import { CliError } from "./errors.ts"

export type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Uint8Array
  readonly text: string
}

export type Call = {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What a URL is of, and how another is named, for errors. */
export type Service = {
  readonly name: string
  readonly url: string
  readonly flag: string
  readonly variable: string
}

const usualTimeLimitMs = 30_000
const sizeLimit = 32 * 1024 * 1024

const reasonOf = (error: unknown): string => {
  // Tried on several addresses, one error holds one for each.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  if (!(first instanceof Error)) return String(first)
  return first.message === "aborted" ? "the answer broke off" : first.message
}

const readAll = async (message: IncomingMessage): Promise<Buffer> => {
  let body: Readable = message
  if (message.headers["content-encoding"] === "gzip") {
    // Loaded where it is needed alone: the start of the tool is most of what a command costs.
    const { createGunzip } = await import("node:zlib")
    // The error of either end reaches the reader below.
    body = pipeline(message, createGunzip(), () => {})
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue
    chunks.push(Buffer.from(chunk))
    size += chunk.byteLength
    if (size > sizeLimit) throw new Error(`the answer is larger than ${sizeLimit / 1024 / 1024} MiB`)
  }
  return Buffer.concat(chunks)
}

/** node:http starts in half of fetch's time, which for most commands is longer than the call itself. */
const exchange = async (
  url: URL,
  { method = "GET", headers = {}, body }: Call,
  signal: AbortSignal,
): Promise<Answer> => {
  const send = url.protocol === "https:" ? (await import("node:https")).request : request
  const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = send(url, {
      method,
      agent: false,
      signal,
      headers: {
        ...headers,
        "accept-encoding": "gzip",
        ...(content === undefined ? {} : { "content-type": "application/json", "content-length": content.length }),
      },
    })
    outgoing.once("response", resolve)
    outgoing.once("error", reject)
    outgoing.end(content)
  })
  const bytes = await readAll(message)
  return { status: message.statusCode ?? 0, headers: message.headers, bytes, text: new TextDecoder().decode(bytes) }
}

/** One HTTP call, its whole answer within 30 s. A redirect is not followed: where a key may be sent, the user says. */
export const call = async (
  url: string,
  options: Call,
  service: Service,
  timeLimitMs = usualTimeLimitMs,
): Promise<Answer> => {
  const another = `--${service.flag} or ${service.variable}`
  const signal = AbortSignal.timeout(timeLimitMs)
  const answer = await exchange(new URL(url), options, signal).catch((error: unknown) => {
    const reason = signal.aborted ? `no whole answer within ${timeLimitMs / 1000} s` : reasonOf(error)
    throw new CliError("unreachable", `${service.name} at ${service.url} cannot be reached: ${reason}.`, {
      next: `Check that it runs (curl ${service.url}/health), or name another with ${another}`,
    })
  })
  if (answer.status >= 300 && answer.status < 400) {
    const target = answer.headers.location ?? "another place"
    throw new CliError(
      "redirected",
      `${service.name} at ${service.url} sends on to ${target}; the tool does not follow.`,
      {
        next: `If that is right, name it with ${another}`,
      },
    )
  }
  return answer
}
