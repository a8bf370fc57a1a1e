// Reads the registry's changes as server-sent events.
import type { Clock } from "../http/clock.ts"
import { type ConnectionEvent, followConnection } from "../stream/connection-state.ts"
import type { SvcError } from "../http/error.ts"
import type { RegistryChange } from "../generated/answers.ts"
import type { Answer, Fetch } from "../http/http.ts"
import { parseJson } from "../http/json.ts"
import type { FollowOptions } from "./platform.ts"

// The service sends at least a comment every 15 s.
const quietMs = 20_000
const silentMs = 45_000
const longestWaitMs = 30_000

/** The complete events of one connection. */
async function* eventsOf(
  { body }: Awaited<ReturnType<Fetch>>,
  clock: Clock,
  report: (event: ConnectionEvent) => void,
): AsyncGenerator<{ id: string; event: string; data: string }, void> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  for (;;) {
    const heard = new AbortController()
    void clock.sleep(quietMs, heard.signal).then(() => heard.signal.aborted || report({ is: "unanswered" }))
    const silence = clock.sleep(silentMs, heard.signal).then(() => undefined)
    const part = await Promise.race([reader?.read(), silence]).finally(() => heard.abort())
    if (part === undefined || part.done) return
    report({ is: "heard" })
    text = (text + decoder.decode(part.value, { stream: true })).replaceAll("\r\n", "\n")
    const blocks = text.split("\n\n")
    text = blocks.pop() ?? ""
    for (const block of blocks) {
      // To a regular expression a line also ends at U+2028, which a change's message may have.
      const lines = block.split("\n")
      const field = (name: string) =>
        lines
          .flatMap((line) => (line.startsWith(`${name}:`) ? line.slice(name.length + 1).replace(/^ /, "") : []))
          .join("\n")
      yield { id: field("id"), event: field("event"), data: field("data") }
    }
  }
}

/**
 * Follows changes, and reconnects whenever the connection is lost.
 * @param errorOf passed in, because this file is bundled separately
 */
export async function* follow(
  base: string,
  key: string | undefined,
  fetch: Fetch | undefined,
  clock: Clock,
  errorOf: (answer: Answer) => SvcError,
  { stack, after, onState, signal }: FollowOptions = {},
): AsyncGenerator<RegistryChange, void> {
  const url = new URL(`${base}/api/registry/changes`)
  if (stack !== undefined) url.searchParams.set("stack", stack)
  if (after !== undefined) url.searchParams.set("after", String(after))
  const headers = { accept: "text/event-stream", ...(key && { authorization: `Bearer ${encodeURI(key.trim())}` }) }
  const connect = async (leaving: AbortSignal): ReturnType<Fetch> => {
    const response = await (fetch ?? globalThis.fetch)(url.href, {
      method: "GET",
      headers,
      redirect: "manual",
      signal: leaving,
    })
    const { status } = response
    const header = (name: string) => response.headers.get(name)
    if (status !== 200 || !/^text\/event-stream/i.test(`${header("content-type")}`)) {
      throw errorOf({ url: url.href, status, header, body: parseJson(await response.text()) })
    }
    // If the key is ignored, the reader would miss changes without noticing.
    const code = header("x-auth-ignored")
    if (code !== null)
      throw errorOf({ url: url.href, status: 401, header, body: { code, message: "The key can't be used" } })
    return response
  }
  const isOver = () => signal?.aborted === true
  const report = followConnection(onState)
  let waitMs = 500
  while (!isOver()) {
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    signal?.addEventListener("abort", leave)
    waitMs = Math.min(waitMs * 2, longestWaitMs)
    let askedMs = 0
    try {
      const answered = new AbortController()
      void clock.sleep(silentMs, answered.signal).then(() => answered.signal.aborted || leave())
      const response = await connect(leaving.signal).finally(() => answered.abort())
      report({ is: "heard" })
      for await (const { id, event, data } of eventsOf(response, clock, report)) {
        waitMs = 500
        if (event === "begin-again") {
          throw errorOf({ url: url.href, status: 400, header: () => null, body: parseJson(data) })
        }
        if (id !== "") url.searchParams.set("after", id)
        // The platform's tests check it against the document that this type is generated from.
        if (data !== "") yield JSON.parse(data) as RegistryChange
        if (isOver()) return
      }
      report({ is: "lost", error: undefined })
    } catch (error) {
      if (isOver()) return
      report({ is: "lost", error: error instanceof Error && "code" in error ? (error as SvcError) : undefined })
      // An error without `retryable` comes from the connection.
      const { retryable, retryAfterMs = 0 } = error as Partial<SvcError>
      if (retryable === false) throw error
      askedMs = retryAfterMs
    } finally {
      leave()
      signal?.removeEventListener("abort", leave)
    }
    await clock.sleep(Math.max(waitMs, askedMs), signal)
  }
}
