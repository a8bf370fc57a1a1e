import { EventEmitter, once } from "node:events"
import type { TestService } from "../service.ts"

/** One change as an endpoint or a stream tells it. */
export type SeenChange = {
  readonly id: number
  readonly stack: string
  readonly kind: string
  readonly version: number
  readonly [field: string]: unknown
}

/** All that a reader is told after an id, page by page. */
export const changesAfter = async (
  service: Pick<TestService, "call">,
  after: number,
  { key, stack, limit = 100 }: { readonly key?: string; readonly stack?: string; readonly limit?: number } = {},
): Promise<readonly SeenChange[]> => {
  const all: SeenChange[] = []
  for (let next = after; ;) {
    const query = new URLSearchParams({ after: String(next), limit: String(limit), ...(stack && { stack }) })
    const path = `/api/registry/changes?${query}`
    const { body } = await service.call("GET", path, { key })
    all.push(...body.changes)
    if (body.changes.length < limit) return all
    next = body.next
  }
}

/** Opens a stream of changes and reads it. */
export const followChanges = async (
  url: string,
  { key, query = "", headers = {} }: { key?: string; query?: string; headers?: Record<string, string> } = {},
) => {
  const closing = new AbortController()
  const response = await fetch(`${url}/api/registry/changes${query}`, {
    signal: closing.signal,
    headers: { accept: "text/event-stream", ...(key && { authorization: `Bearer ${key}` }), ...headers },
  })
  const told: SeenChange[] = []
  let lost = 0
  const events = new EventEmitter()
  let text = ""
  const read = async (): Promise<"ended" | "cut"> => {
    try {
      for await (const chunk of response.body ?? []) {
        text += new TextDecoder().decode(chunk)
        const blocks = text.split("\n\n")
        text = blocks.pop() ?? ""
        for (const block of blocks) {
          const data = /^id: (\d+)\nevent: (\S+)\ndata: (.*)$/.exec(block)
          if (data?.[2] === "begin-again") lost += 1
          else if (data !== null) told.push(JSON.parse(data[3] ?? ""))
        }
        events.emit("read")
      }
      return "ended"
    } catch {
      return "cut"
    } finally {
      events.emit("read")
    }
  }
  const ended = response.ok ? read() : Promise.resolve("ended" as const)
  return {
    status: response.status,
    headers: response.headers,
    told,
    /** How often it said that what was missed isn't known. */
    lost: () => lost,
    ended,
    /** Waits until so many changes have come. */
    until: async (count: number): Promise<readonly SeenChange[]> => {
      while (told.length < count) await once(events, "read")
      return told
    },
    close: () => closing.abort(),
  }
}
