import { request } from "undici"
import { type Finding, fail, pass, warn } from "./doctor.ts"

const deadlineMs = 8_000

/** A response, or why there is none, as a code such as ECONNREFUSED. */
type Answer =
  | {
      readonly status: number
      /** The value of a header, by its name in lower case. */
      readonly header: (name: string) => string | undefined
      /** Parsed, if it is JSON. */
      readonly body: unknown
    }
  | { readonly reason: string }

const reasonOf = (error: unknown): string => {
  const { cause, code, name } = Object(error) as { cause?: unknown; code?: unknown; name?: unknown }
  if (cause !== undefined) return reasonOf(cause)
  return name === "TimeoutError" ? `no answer within ${deadlineMs / 1000} s` : String(code ?? name)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Makes one request, without following redirects. */
export const ask = async (
  url: string,
  options: {
    readonly method?: "POST"
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  } = {},
): Promise<Answer> => {
  try {
    const { statusCode, headers, body } = await request(url, { ...options, signal: AbortSignal.timeout(deadlineMs) })
    const header = (name: string) => [headers[name]].flat()[0]
    return { status: statusCode, header, body: parsed(await body.text()) }
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}

// Session tokens allow five seconds (docs: Session tokens).
const toleratedMs = 5_000

/**
 * Compares this machine's clock with another's.
 *
 * @param source whose clock it is
 * @param theirs its time in milliseconds since 1970; NaN if it doesn't tell
 * @param ours this machine's, as it was in the middle of the request
 * @param graininessMs how exactly the source tells its time: a Date header has whole seconds
 */
export const checkClock = (source: string, theirs: number, ours: number, graininessMs = 1_000): readonly Finding[] => {
  if (Number.isNaN(theirs)) return []
  const offMs = Math.max(0, Math.abs(theirs - ours) - graininessMs)
  const text = `the clock differs by ${(offMs / 1000).toFixed(1)} s from ${source}`
  const next = "Synchronise this machine's clock (NTP); session tokens allow 5 s."
  if (offMs > toleratedMs) return [fail("clock", text, next)]
  return [offMs > 1_000 ? warn("clock", text, next) : pass("clock", text)]
}
