import { z } from "@svc/openapi"
import { isoTime } from "../db/time.ts"
import { errors } from "../errors.ts"
import { isVisible, listVisible } from "../records/visible.ts"
import type { Services } from "../services.ts"
import { sendOwn } from "./conditional.ts"
import { type Api, endpoint } from "./endpoint.ts"
import { isoTimeOrNull, reading, recordId, sendRecords } from "./owned.ts"
import { pageQuery } from "./paging.ts"
import { build, buildEvent, buildWithEvents } from "./record-schemas.ts"

type Build = z.infer<typeof build>
type BuildEvent = z.infer<typeof buildEvent>

const tables = { table: "builds", shares: "build_shares" } as const

const columns = `b.id, b.spec_id, b.spec_version_id, b.branch, b.status, b.phase, b.progress, b.status_message, b.websocket_url,
  b.created_at, b.started_at, b.completed_at`

const present = (row: Build): Build => ({
  ...row,
  created_at: isoTime(row.created_at),
  started_at: isoTimeOrNull(row.started_at),
  completed_at: isoTimeOrNull(row.completed_at),
})

export const buildsSql = {
  list: listVisible(tables, columns, "builds b", "b"),
  // One statement, so that the build and its events are of one moment. A build without events gives one row.
  one: `
    select ${columns}, e.id as event_id, e.event_type, e.phase as event_phase, e.previous_status, e.new_status, e.created_at as event_at
    from builds b left join build_events e on e.build_id = b.id
    where ${isVisible(tables, "b")} order by e.id`,
}

type Joined = Build & {
  event_id: number | null
  event_type: string
  event_phase: string | null
  previous_status: BuildEvent["previous_status"]
  new_status: BuildEvent["new_status"]
  event_at: string
}

const split = ({ event_id, event_type, event_phase, previous_status, new_status, event_at, ...row }: Joined) => ({
  row,
  event:
    event_id === null
      ? undefined
      : { id: event_id, event_type, phase: event_phase, previous_status, new_status, created_at: isoTime(event_at) },
})

export const buildRoutes = (api: Api, services: Services): void => {
  endpoint(
    api,
    services,
    {
      ...reading(z.array(build), "Builds"),
      path: "/api/builds",
      id: "listBuilds",
      summary: "The builds that the caller sees, newest first",
      query: pageQuery,
      codes: ["invalid-request"],
    },
    (c) => sendRecords<Build>(c, buildsSql.list, present),
  )

  endpoint(
    api,
    services,
    {
      ...reading(buildWithEvents, "The build, its events oldest first"),
      path: "/api/builds/{id}",
      id: "getBuild",
      summary: "One build with its events",
      codes: ["invalid-request", "build-not-found"],
    },
    async (c) => {
      const id = recordId(c, "build-not-found")
      const joined = (await c.get("queries").query<Joined>(buildsSql.one, [c.get("principal").userId, id])).map(split)
      const [first] = joined
      if (first === undefined) throw errors.fail("build-not-found")
      const events: BuildEvent[] = joined.flatMap(({ event }) => event ?? [])
      return sendOwn(c, JSON.stringify({ ...present(first.row), events }))
    },
  )
}
