import { json, z } from "@svc/openapi"
import { asc, desc, eq, prepared } from "../../db/database.ts"
import { buildEvents, builds } from "../../db/schema/index.ts"
import { buildStatuses, lifeCycles } from "../../records/transitions.ts"
import { isOnPage, isVisible } from "../../records/visible.ts"
import { createRoutes, idPath, jsonRequest, nothing, recordNumber } from "../api.ts"
import { createRoute, sendOwn } from "../create-route.ts"
import { listRoute, readOne, readPage, recordRoute } from "../owned.ts"
import { record, recordId, text, time } from "../record.ts"
import { errors } from "../../errors.ts"
import { ownBuild, ownSpec } from "../../records/own.ts"
import { versionOrLatest } from "../../records/spec-versions.ts"
import { beginOwnBuild } from "../../work/begin.ts"
import { endBuild } from "../../work/endings.ts"
import { change, changeFailures, changingWithBody, deployCodes, firstLook } from "../change.ts"

const buildStatus = z.enum(buildStatuses)

const buildRecord = record({
  id: [builds.id, recordId.meta({ description: "Its id" })],
  spec_id: [builds.specId, recordId.meta({ description: "The spec that is built" })],
  spec_version_id: [builds.specVersionId, recordId.meta({ description: "The version that is built" })],
  status: [builds.status, buildStatus],
  phase: [builds.phase, text.meta({ description: "The current phase" })],
  progress: [builds.progress, z.int().min(0).max(100).meta({ description: "In percent" })],
  status_message: [builds.statusMessage, text.meta({ description: "Why it failed" })],
  websocket_url: [builds.websocketUrl, text],
  created_at: [builds.createdAt, time],
  started_at: [builds.startedAt, time],
  completed_at: [builds.completedAt, time],
})
const buildAnswer = buildRecord.schema.openapi("Build")

const event = record({
  id: [buildEvents.id, recordId],
  event_type: [buildEvents.eventType, text],
  phase: [buildEvents.phase, text],
  previous_status: [buildEvents.previousStatus, buildStatus],
  new_status: [buildEvents.newStatus, buildStatus],
  created_at: [buildEvents.createdAt, time],
})

const wholeBuild = buildAnswer.extend({ events: z.array(event.schema) })

export const buildStatements = {
  list: prepared((db) =>
    db.select(buildRecord.columns).from(builds).where(isOnPage("builds")).orderBy(desc(builds.id)).prepare("builds"),
  ),
  // One statement, so that the build and its events are consistent.
  one: prepared((db) =>
    db
      .select({ build: buildRecord.columns, event: event.columns })
      .from(builds)
      .leftJoin(buildEvents, eq(buildEvents.buildId, builds.id))
      .where(isVisible(db, "builds"))
      .orderBy(asc(buildEvents.id))
      .prepare("build"),
  ),
}

export const buildRoutes = createRoutes()

const path = "/api/builds"
const listBuilds = listRoute(path, "Builds", buildAnswer)
buildRoutes.openapi(listBuilds, async (c) => sendOwn(c, await readPage(c, buildStatements.list, c.req.valid("query"))))

const getBuild = recordRoute(path, "Build", wholeBuild, {
  response: "The build, with its events oldest first",
  description: "Includes its events, oldest first.",
})
buildRoutes.openapi(getBuild, async (c) => {
  const rows = await readOne(c, buildStatements.one, c.req.valid("param").id, "build-not-found")
  return sendOwn(c, { ...rows[0].build, events: rows.flatMap((row) => row.event ?? []) })
})

export const newBuild = z.strictObject({
  spec_id: recordNumber.meta({ description: "The spec's id" }),
  spec_version_id: recordNumber.meta({ description: "A version's `id`. Default: the latest" }).optional(),
  allow_breaking: z.boolean().default(false).meta({ description: "Builds even if the version breaks readers" }),
})
const acceptedBuild = z.object({ build_id: z.int(), status: z.string(), message: z.string() })

const accepted = (id: number, status: string, message: string) =>
  ({ status: 202, body: { build_id: id, status, message }, location: `/api/builds/${id}` }) as const

const startBuild = createRoute({
  method: "post",
  path: "/api/builds",
  operationId: "startBuild",
  summary: "Start a build",
  description: "Builds a version of a spec, by default the latest, and deploys it.",
  ...changingWithBody(),
  request: { body: jsonRequest(newBuild) },
  responses: { 202: json("Accepted", acceptedBuild), ...changeFailures("spec-not-found", ...deployCodes) },
})
buildRoutes.openapi(startBuild, (c) => {
  const input = c.req.valid("json")
  return change(c, async ({ tx, at, userId, config, tell }) => {
    const spec = await ownSpec(tx, userId, input.spec_id)
    const specVersionId = await versionOrLatest(tx, spec.id, input.spec_version_id)
    await firstLook(tx, spec, config.streamUrlTemplate, at)
    const { allow_breaking: allowBreaking } = input
    const build = { ownerId: userId, specId: spec.id, specVersionId, allowBreaking }
    const id = await beginOwnBuild(tx, build, config.perOwner.waitingBuilds, at)
    await tell("build.create", `build:${id}`)
    return accepted(id, "pending", `Follow it: GET /api/builds/${id}`)
  })
})

const cancelBuild = createRoute({
  method: "post",
  path: "/api/builds/{id}/cancel",
  operationId: "cancelBuild",
  summary: "Cancel a build",
  description: "Cancels an unfinished build. The registry stays as it is.",
  ...changingWithBody("build-not-found"),
  request: { params: idPath, body: jsonRequest(nothing) },
  responses: { 202: json("Cancelled", acceptedBuild), ...changeFailures("build-not-found", "build-state") },
})
buildRoutes.openapi(cancelBuild, (c) => {
  const { id } = c.req.valid("param")
  return change(c, async ({ tx, at, userId, tell }) => {
    const build = await ownBuild(tx, userId, id)
    if (lifeCycles.build.ended.includes(build.status)) {
      throw errors.fail("build-state", { message: `The build is ${build.status} and can no longer be cancelled.` })
    }
    await endBuild(tx, build, "cancelled", "cancelled by its owner", at)
    await tell("build.cancel", `build:${id}`)
    return accepted(id, "cancelled", "Cancelled.")
  })
})
