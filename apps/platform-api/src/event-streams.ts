// What every route that sends events has.
import { eventOf } from "@svc/http"
import type { Context } from "hono"
import type { HeaderDocs } from "./routes/create-route.ts"

/** How long a stream's slot stays taken after its replica dies. */
export const leaseMs = 30_000

export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  // A proxy that compresses the stream would keep its events until it has enough of them.
  "cache-control": "private, no-store, no-transform",
  "x-accel-buffering": "no",
}

/** The response of a route that sends events. */
export const eventStream = (description: string) => ({
  description,
  content: { "text/event-stream": { schema: { type: "string" as const } } },
})

/** For routes that call `lastEventId`. */
export const resumed: HeaderDocs = {
  reads: { "Last-Event-ID": "The id of the last event received. Later events follow" },
}

/** The id after which a reconnecting client continues; undefined if it sent none, -1 for one that no event has. */
export const lastEventId = (c: Context): number | undefined => {
  const id = c.req.header("last-event-id")?.trim() ?? ""
  if (id === "") return undefined
  return /^\d{1,15}$/.test(id) ? Number(id) : -1
}

export const lostPlace =
  "was never issued, or is older than what is kept: begin again. Read everything, then continue without it"

/** Tells a client that what it missed isn't known. Its next connection continues after `id`. */
export const beginAgain = (id: number): Uint8Array =>
  eventOf(id, "begin-again", { code: "invalid-request", error: `The id ${lostPlace}.`, retryable: false })
