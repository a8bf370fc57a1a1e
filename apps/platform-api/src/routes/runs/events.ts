import { setTimeout as delay } from "node:timers/promises"
import { countStream, eventOf, type EventStream } from "@svc/http"
import { policies } from "../../auth/guard.ts"
import { keyCheck } from "../../auth/key-watch.ts"
import { and, asc, type Database, desc, eq, gt, type Orm, prepared, requestMs, sql } from "../../db/database.ts"
import { runChanges, runs } from "../../db/schema/index.ts"
import { errors } from "../../errors.ts"
import { lifeCycles } from "../../records/transitions.ts"
import { createRoutes, idPath, keyFailures } from "../api.ts"
import { createRoute } from "../create-route.ts"
import * as sse from "../../event-streams.ts"
import { reading, readOne } from "../owned.ts"
import { runStatements } from "./runs.ts"

type Event = { readonly id: number; readonly step: string | null; readonly status: string }

const pollMs = 250
const checkMs = 1000
const isOver = (status: string): boolean => lifeCycles.run.ended.some((one) => one === status)

const changesSince = prepared((db) =>
  db
    .select({ id: runChanges.id, step: runChanges.step, status: runChanges.status })
    .from(runChanges)
    .where(and(eq(runChanges.runId, sql.placeholder("id")), gt(runChanges.id, sql.placeholder("since"))))
    .orderBy(asc(runChanges.id))
    .prepare("run_changes"),
)
// One statement, so that no change between the two is missed.
const stateOf = prepared((db) =>
  db
    .select({ status: runs.status, change: runChanges.id })
    .from(runs)
    .leftJoin(runChanges, eq(runChanges.runId, runs.id))
    .where(eq(runs.id, sql.placeholder("id")))
    .orderBy(desc(runChanges.id))
    .limit(1)
    .prepare("run_state"),
)

const write = ({ id, step, status }: Event): Uint8Array =>
  step === null ? eventOf(id, "status", { status }) : eventOf(id, "step", { name: step, status })

/** Sends a run's changes as they happen, until it ends. */
export const runEventRoutes = createRoutes()

const follow = async (
  database: Database,
  stream: EventStream,
  runId: number,
  since: number | undefined,
  mayRead: () => Promise<boolean>,
): Promise<void> => {
  let last = since ?? 0
  let unchecked = 0
  const send = (event: Event): void => stream.send(write(event))
  /** Ends the stream of a reader who may no longer read the run. */
  const check = async (): Promise<void> => {
    if (unchecked < checkMs) return
    if (!(await mayRead())) stream.end()
    unchecked = 0
  }
  const round = async (): Promise<void> => {
    await check()
    const changes = await database.within(requestMs).run((db) => changesSince(db).execute({ id: runId, since: last }))
    for (const event of changes) {
      last = event.id
      send(event)
    }
    if (changes.some((event) => event.step === null && isOver(event.status))) stream.end()
  }
  const begin = async (): Promise<void> => {
    await check()
    const queries = database.within(requestMs)
    const [state] = await queries.run((db) => stateOf(db).execute({ id: runId }))
    if (state === undefined) return
    const newest = state.change ?? 0
    const isLost = since !== undefined && (since < 0 || since > newest)
    if (isLost) stream.send(sse.beginAgain(newest))
    if (since === undefined || isLost) {
      last = newest
      send({ id: last, step: null, status: state.status })
    } else await round()
    if (isOver(state.status)) stream.end()
  }
  for (let begun = false; ;) {
    // Ignore outages: the client's connection doesn't depend on the database.
    begun = await (begun ? round() : begin()).then(
      () => true,
      () => begun,
    )
    await delay(pollMs)
    if (stream.hasEnded()) return
    unchecked += pollMs
  }
}

const followRun = createRoute(
  {
    method: "get",
    path: "/api/automation/runs/{id}/events",
    operationId: "followRun",
    summary: "Follow a run",
    description:
      "Sends the current status first, then each change as it happens: `status` with `{status}` for the run, `step` with `{name, status}` for a step. The stream ends with the run, or when the key is revoked or the run is no longer shared with you.",
    ...reading,
    request: { params: idPath },
    responses: {
      200: sse.eventStream("Server-sent events"),
      ...keyFailures(policies.ownRecords, "invalid-request", "run-not-found", "limit-reached"),
    },
  },
  sse.resumed,
)
runEventRoutes.openapi(followRun, async (c) => {
  const { database, config, limits, streams } = c.get("dependencies")
  const { id: runId } = c.req.valid("param")
  await readOne(c, runStatements.seen, runId, "run-not-found")
  const { userId } = c.get("principal")
  // A stream would stay open after a HEAD request.
  if (c.req.method === "HEAD") return c.body(null, 200, sse.eventStreamHeaders)
  const limit = config.perOwner.eventStreams
  const places = [{ pool: `run-events ${userId}`, limit }]
  const entry = await limits.enter({ places, leaseMs: sse.leaseMs, renewed: true })
  if ("full" in entry) {
    throw errors.fail("limit-reached", {
      message: `You have ${limit} event streams open, the maximum (SVC_EVENT_STREAMS_PER_OWNER).`,
      hint: "Close one, or wait until one of the runs ends.",
    })
  }
  const since = sse.lastEventId(c)
  const isGood = keyCheck(c)
  const seen = (db: Orm) => runStatements.seen(db).execute({ account: userId, id: runId })
  const mayRead = async (): Promise<boolean> =>
    (await isGood()) && (await database.within(requestMs).run(seen)).length > 0
  const events = streams.open(countStream(c), (stream) => {
    void follow(database, stream, runId, since, mayRead)
    return entry.leave
  })
  return c.body(events, 200, sse.eventStreamHeaders)
})
