import { addressBucket, commentOf, countStream, wantsEventStream } from "@svc/http"
import { placesOf } from "@svc/limits"
import { json, z } from "@svc/openapi"
import type { Context, MiddlewareHandler } from "hono"
import type { AppEnv, Caller } from "../../auth/guard.ts"
import { keyCheck } from "../../auth/key-watch.ts"
import { changeKinds } from "../../db/schema/index.ts"
import { errors, wrongField } from "../../errors.ts"
import type { Audience } from "../../registry/audience.ts"
import { plainAnswer } from "../../registry/answer.ts"
import { canContinue, changeEvent, mostLookedThrough, presentChange, readChanges } from "../../registry/changes.ts"
import { createRoutes, pageQuery, prose } from "../api.ts"
import { createRoute } from "../create-route.ts"
import * as sse from "../../event-streams.ts"
import { asked, count, readingAs, registryRead, send } from "./reader.ts"
import { bump, verdict } from "./schemas.ts"

/** Concurrent streams. */
export const streamsPerAddress = 4
export const streamsPerAccount = 16

const changesQuery = z.object({
  after: z
    .string()
    .regex(/^\d{1,15}$/, "must be the id of a change")
    .transform(Number)
    .optional()
    .meta({ type: "integer", format: "int64", minimum: 0, description: "The id of the last change that you have" }),
  stack: prose(200).toLowerCase().optional().meta({ description: "Only changes of this stack" }),
  limit: pageQuery.shape.limit,
})

const changesAnswer = z.object({
  changes: z.array(
    z
      .object({
        id: z.int().meta({ format: "int64", description: "Ascends and never repeats" }),
        at: z.iso.datetime(),
        stack: z.string(),
        kind: z.enum(changeKinds),
        version: z.int().positive().optional(),
        previous_version: z.int().positive().optional().meta({ description: "The version served until then" }),
        verdict: verdict.optional(),
        bump: bump.optional(),
        message: z.string().optional().meta({ description: "The version's message, or why it is deprecated" }),
        successor: z.string().optional(),
      })
      .openapi("RegistryChange"),
  ),
  next: z.int().meta({ format: "int64", description: "The id to pass as `after` next time" }),
})

const readerOf = ({ principal }: Caller): Audience =>
  principal === undefined ? "public" : principal.keyClass === "secret" ? principal.userId : "keyed"

const pageSize = 100
// Changes that arrive while a client still reads older ones.
const maxPending = 1000

export const changeRoutes = createRoutes()

const follow = async (
  c: Context<AppEnv>,
  caller: Caller,
  { after: known, stack }: { readonly after: number | undefined; readonly stack: string | undefined },
): Promise<Response> => {
  const { changes, database, limits, keyWatch, streams } = c.get("dependencies")
  const isLost = known !== undefined && !(await canContinue(database, known))
  const after = isLost ? undefined : known
  const ofAddress = placesOf("changes", addressBucket(c.get("clientAddress")), streamsPerAddress)
  // Those of a page's visitors count for their addresses alone: they must not take the places of the account itself.
  const ofAccount =
    caller.principal?.keyClass === "secret"
      ? [{ pool: `changes account:${caller.principal.userId}`, limit: streamsPerAccount }]
      : []
  const entry = await limits.enter({
    places: [...ofAddress, ...ofAccount],
    leaseMs: sse.leaseMs,
    renewed: true,
  })
  if ("full" in entry) {
    const holder = entry.full === ofAddress[0] ? "address" : ofAccount.includes(entry.full) ? "account" : "network"
    throw errors.fail("rate-limit-exceeded", {
      message: `${entry.full.limit} change streams are open for this ${holder}, the maximum.`,
      hint: "Close one, or poll GET /api/registry/changes?after=<next>.",
      retryAfterSeconds: sse.leaseMs / 1000,
    })
  }
  const reader = readerOf(caller)
  const isGood = caller.principal === undefined ? undefined : keyCheck(c)
  const mayReadMore = async (): Promise<boolean> =>
    caller.limit.limit <= 0 || (await limits.take([caller.limit])).allowed
  const events = streams.open(countStream(c), (stream) => {
    const from = changes.position()
    let pending: Uint8Array[] | undefined = []
    const unfollow = changes.follow({
      reader,
      tell: (event, change) => {
        if (change.id <= (after ?? 0) || (stack !== undefined && change.stack !== stack)) return
        if (pending === undefined) stream.send(event)
        else if (pending.push(event) > maxPending) stream.end()
      },
    })
    const catchUp = async (since: number): Promise<void> => {
      for (let last = since, more = true; more && !stream.hasEnded();) {
        await stream.room()
        // It costs what a request for the page costs.
        if (last !== since && !(await mayReadMore())) return stream.end()
        const page = await readChanges(database, reader, { after: last, through: from, stack, limit: pageSize })
        for (const change of page.changes) stream.send(changeEvent(change))
        last = page.next
        more = page.more
        if (more) stream.send(commentOf(`more follows\nid: ${last}`))
      }
    }
    const begin = async (): Promise<void> => {
      // A client that disconnects before the first event reconnects with this id.
      if (isLost) stream.send(sse.beginAgain(from))
      else if (after === undefined) stream.send(commentOf(`what comes next\nid: ${from}`))
      else {
        stream.send(commentOf(`what came after ${after}`))
        await catchUp(after)
      }
      const waiting = pending ?? []
      pending = undefined
      waiting.forEach(stream.send)
    }
    // The client reconnects with its last id.
    begin().catch(stream.end)
    const unwatch =
      isGood === undefined
        ? undefined
        : keyWatch.watch(async () => {
            // Ignore outages: the key is checked again later.
            if (!(await isGood().catch(() => true))) stream.end()
          })
    return () => {
      unfollow()
      unwatch?.()
      entry.leave()
    }
  })
  return c.body(events, 200, sse.eventStreamHeaders)
}

/** Each request counts, an invalid one too. */
const counted: MiddlewareHandler<AppEnv> = async (c, next) => {
  c.header("Vary", "Authorization, Origin, Accept, Accept-Encoding")
  await count(c)
  await next()
}
const listChanges = createRoute(
  {
    method: "get",
    path: "/api/registry/changes",
    operationId: "listChanges",
    summary: "Follow changes of the registry",
    description: `Lists what was published, rolled back, deprecated, withdrawn or restored: the newest changes, or those after an id. A page looks through ${mostLookedThrough} changes, others' private ones too: among many of these it can be short or empty, and \`next\` continues after them. With \`Accept: text/event-stream\`, sends each change as a server-sent event as it happens.`,
    ...registryRead,
    middleware: [asked(), counted],
    request: { query: changesQuery },
    responses: readingAs(
      {
        description: "Changes, by ascending id",
        content: {
          ...json("", changesAnswer).content,
          ...sse.eventStream("").content,
        },
      },
      "invalid-request",
    ),
  },
  sse.resumed,
)
changeRoutes.openapi(listChanges, async (c) => {
  const { after, stack, limit } = c.req.valid("query")
  const caller = c.get("caller")
  if (wantsEventStream(c.req.header("accept"))) {
    // A stream would stay open after a HEAD request.
    if (c.req.method === "HEAD") return c.body(null, 200, sse.eventStreamHeaders)
    return follow(c, caller, { after: sse.lastEventId(c) ?? after, stack })
  }
  const { database } = c.get("dependencies")
  if (after !== undefined && !(await canContinue(database, after))) {
    throw wrongField("invalid-request", "after", sse.lostPlace)
  }
  const { changes, next } = await readChanges(database, readerOf(caller), { after, stack, limit })
  const body = { changes: changes.map(presentChange), next }
  const headers = { "cache-control": caller.credentials ? "private, no-cache" : "no-cache" }
  return send(c, { answer: plainAnswer(JSON.stringify(body satisfies z.infer<typeof changesAnswer>)), headers }, true)
})
