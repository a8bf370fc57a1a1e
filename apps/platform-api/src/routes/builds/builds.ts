import { z } from "@svc/openapi"
import { buildEvents, builds } from "../../db/schema/index.ts"
import { buildStatuses } from "../../records/transitions.ts"
import { isVisible, listVisible } from "../../records/visible.ts"
import type { Dependencies } from "../../dependencies.ts"
import type { Api } from "../api.ts"
import { serveList, serveOne } from "../owned.ts"
import { fieldsOf, id, record, text, time } from "../record.ts"

const status = z.enum(buildStatuses)

const b = fieldsOf("b")
const build = record({
  id: b(builds.id, id.meta({ description: "Its id" })),
  spec_id: b(builds.specId, id.meta({ description: "The spec that is built" })),
  spec_version_id: b(builds.specVersionId, id.meta({ description: "The version that is built" })),
  branch: b(builds.branch, text.meta({ description: "null for production" })),
  status: b(builds.status, status),
  phase: b(builds.phase, text.meta({ description: "The current phase" })),
  progress: b(builds.progress, z.int().min(0).max(100).meta({ description: "In percent" })),
  status_message: b(builds.statusMessage, text.meta({ description: "Why it failed" })),
  websocket_url: b(builds.websocketUrl, text),
  created_at: b(builds.createdAt, time),
  started_at: b(builds.startedAt, time),
  completed_at: b(builds.completedAt, time),
})
const buildAnswer = build.schema.openapi("Build")

const e = fieldsOf("e")
const event = record(
  {
    id: e(buildEvents.id, id),
    event_type: e(buildEvents.eventType, text),
    phase: e(buildEvents.phase, text),
    previous_status: e(buildEvents.previousStatus, status),
    new_status: e(buildEvents.newStatus, status),
    created_at: e(buildEvents.createdAt, time),
  },
  "event_",
)

export const buildsSql = {
  list: listVisible("builds", build.columns, "builds b", "b"),
  // One statement, so that the build and its events are consistent. A build without events gives one row.
  one: `
    select ${build.columns}, ${event.columns} from builds b left join build_events e on e.build_id = b.id
    where ${isVisible("builds", "b")} order by e.id`,
}

const wholeBuild = buildAnswer.extend({ events: z.array(event.schema) })

export const buildRoutes = (api: Api, dependencies: Dependencies): void => {
  const path = "/api/builds"
  serveList(api, dependencies, path, "Builds", buildAnswer, buildsSql.list, build.present)
  const texts = {
    response: "The build, with its events oldest first",
    operation: "Includes its events, oldest first.",
  }
  serveOne(api, dependencies, path, "Build", wholeBuild, texts, buildsSql.one, (rows) => ({
    ...build.present(rows[0]),
    events: rows.filter(event.isIn).map(event.present),
  }))
}
