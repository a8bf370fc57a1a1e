import { z } from "@svc/openapi"
import { asc, desc, eq, prepared } from "../../db/database.ts"
import { buildEvents, builds } from "../../db/schema/index.ts"
import { buildStatuses } from "../../records/transitions.ts"
import { isOnPage, isVisible } from "../../records/visible.ts"
import { createRoutes } from "../api.ts"
import { sendOwn } from "../conditional.ts"
import { listRoute, readOne, readPage, recordRoute } from "../owned.ts"
import { id, record, text, time } from "../record.ts"

const status = z.enum(buildStatuses)

const build = record({
  id: [builds.id, id.meta({ description: "Its id" })],
  spec_id: [builds.specId, id.meta({ description: "The spec that is built" })],
  spec_version_id: [builds.specVersionId, id.meta({ description: "The version that is built" })],
  status: [builds.status, status],
  phase: [builds.phase, text.meta({ description: "The current phase" })],
  progress: [builds.progress, z.int().min(0).max(100).meta({ description: "In percent" })],
  status_message: [builds.statusMessage, text.meta({ description: "Why it failed" })],
  websocket_url: [builds.websocketUrl, text],
  created_at: [builds.createdAt, time],
  started_at: [builds.startedAt, time],
  completed_at: [builds.completedAt, time],
})
const buildAnswer = build.schema.openapi("Build")

const event = record({
  id: [buildEvents.id, id],
  event_type: [buildEvents.eventType, text],
  phase: [buildEvents.phase, text],
  previous_status: [buildEvents.previousStatus, status],
  new_status: [buildEvents.newStatus, status],
  created_at: [buildEvents.createdAt, time],
})

const wholeBuild = buildAnswer.extend({ events: z.array(event.schema) })

export const buildStatements = {
  list: prepared((db) =>
    db.select(build.columns).from(builds).where(isOnPage(db, "builds")).orderBy(desc(builds.id)).prepare("builds"),
  ),
  // One statement, so that the build and its events are consistent.
  one: prepared((db) =>
    db
      .select({ build: build.columns, event: event.columns })
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
