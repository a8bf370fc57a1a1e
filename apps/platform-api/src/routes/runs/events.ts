import { requestHeader } from "@svc/http"
import { policies } from "../../auth/agent-policy.ts"
import { authenticate, readKey } from "../../auth/authenticate.ts"
import { requestMs } from "../../auth/guard.ts"
import { errors } from "../../errors.ts"
import { isVisible } from "../../records/visible.ts"
import type { Dependencies } from "../../dependencies.ts"
import { type Api, endpoint } from "../endpoint.ts"
import { readOne } from "../owned.ts"

type Event = { readonly id: number; readonly step: string | null; readonly status: string }

const pollMs = 250
const commentMs = 15_000
const checkMs = 1000
const over = new Set(["succeeded", "failed", "cancelled"])

const seenSql = `select r.id from runs r where ${isVisible({ table: "runs", shares: "run_shares" }, "r")}`
const changesSql = "select id::integer as id, step, status from run_changes where run_id = $1 and id > $2 order by id"
// In one statement: a change between the two would never be told.
const stateSql = `
  select r.status, coalesce((select max(id) from run_changes where run_id = r.id), 0)::integer as id
  from runs r where r.id = $1`

const write = ({ id, step, status }: Event): string =>
  `id: ${id}\nevent: ${step === null ? "status" : "step"}\ndata: ${JSON.stringify(step === null ? { status } : { name: step, status })}\n\n`

/** A run's changes as they happen, until it is over. */
export const runEventRoutes = (api: Api, dependencies: Dependencies): void => {
  const open = new Map<number, number>()

  const streamOf = (
    userId: number,
    runId: number,
    since: number | undefined,
    mayRead: () => Promise<boolean>,
  ): ReadableStream => {
    const text = new TextEncoder()
    let timer: NodeJS.Timeout | undefined
    let closed = false
    const leave = (): void => {
      if (closed) return
      closed = true
      clearTimeout(timer)
      dependencies.stopping.removeEventListener("abort", leave)
      const left = (open.get(userId) ?? 1) - 1
      if (left === 0) open.delete(userId)
      else open.set(userId, left)
    }
    return new ReadableStream({
      start: (controller) => {
        let last = since ?? 0
        let quiet = 0
        let unchecked = 0
        const end = (): void => {
          const wasOpen = !closed
          leave()
          if (wasOpen) controller.close()
        }
        dependencies.stopping.addEventListener("abort", end, { once: true })
        const send = (part: string): void => {
          if (!closed) controller.enqueue(text.encode(part))
        }
        const round = async (): Promise<void> => {
          unchecked += pollMs
          if (unchecked >= checkMs) {
            if (!(await mayRead())) return end()
            unchecked = 0
          }
          const changes = await dependencies.database.within(requestMs).query<Event>(changesSql, [runId, last])
          for (const event of changes) {
            last = event.id
            send(write(event))
          }
          quiet = changes.length === 0 ? quiet + pollMs : 0
          if (quiet >= commentMs) {
            quiet = 0
            send(": still here\n\n")
          }
          if (changes.some((event) => event.step === null && over.has(event.status))) end()
        }
        const next = (): void => {
          if (closed) return
          timer = setTimeout(() => {
            // An outage is waited out: the reader's connection is not the database's.
            round()
              .catch(() => {})
              .finally(next)
          }, pollMs)
        }
        const begin = async (): Promise<void> => {
          const queries = dependencies.database.within(requestMs)
          const [state] = await queries.query<{ id: number; status: string }>(stateSql, [runId])
          if (state === undefined) return
          if (since === undefined) {
            last = state.id
            send(write({ ...state, step: null }))
          } else await round()
          if (over.has(state.status)) end()
        }
        begin()
          .catch(() => {})
          .finally(next)
      },
      cancel: leave,
    })
  }

  endpoint(
    api,
    dependencies,
    {
      method: "get",
      path: "/api/automation/runs/{id}/events",
      id: "followRun",
      summary: "Follow a run",
      description:
        "Its present state first, then each change of it and of its steps as it happens; the stream ends with the run, and when the key is revoked or the run no longer shared with you.",
      tag: "records",
      access: policies.ownRecords,
      headers: ["Last-Event-ID"],
      text: ["Server-sent events", ["text/event-stream"]],
      codes: ["invalid-request", "run-not-found", "limit-reached"],
    },
    async (c) => {
      const [row] = await readOne(c, seenSql, "run-not-found")
      const { userId } = c.get("principal")
      const headers = {
        "content-type": "text/event-stream",
        "cache-control": "private, no-store",
        "x-accel-buffering": "no",
      }
      // What a HEAD has no use for would stay open behind it.
      if (c.req.method === "HEAD") return new Response(null, { headers })
      const streams = open.get(userId) ?? 0
      const limit = dependencies.config.perOwner.eventStreams
      if (streams >= limit) {
        throw errors.fail("limit-reached", {
          message: `You have ${limit} event streams open, as many as SVC_EVENT_STREAMS_PER_OWNER allows.`,
          hint: "Close one, or wait until one of the runs is over.",
        })
      }
      open.set(userId, streams + 1)
      const given = requestHeader(c, "last-event-id")
      const since = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : undefined
      const runId = Number(row["id"])
      const key = readKey(requestHeader(c, "authorization"))
      const origin = requestHeader(c, "origin")
      const mayRead = async (): Promise<boolean> => {
        const sent = { origin, now: dependencies.wallClock(), isSuspect: false }
        const principal = "refused" in key ? key : await authenticate(dependencies.findKey, key, sent)
        if ("refused" in principal) return false
        return (await dependencies.database.within(requestMs).query(seenSql, [userId, runId])).length > 0
      }
      return new Response(streamOf(userId, runId, since, mayRead), { headers })
    },
  )
}
