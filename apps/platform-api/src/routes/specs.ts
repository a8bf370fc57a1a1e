import { z } from "@svc/openapi"
import { isoTime } from "../db/time.ts"
import { errors } from "../errors.ts"
import { isVisible, listVisible } from "../records/visible.ts"
import type { Services } from "../services.ts"
import { sendOwn } from "./conditional.ts"
import { type Api, endpoint } from "./endpoint.ts"
import { reading, recordId, sendPage, sendRecords } from "./owned.ts"
import { pageOf, pageQuery } from "./paging.ts"
import { spec, specSchema, specVersion } from "./record-schemas.ts"

type Spec = z.infer<typeof spec>
type Version = z.infer<typeof specVersion>

const tables = { table: "specs", shares: "spec_shares" } as const

const columns = `s.id, s.name, s.entity_name, s.description, s.url_slug, s.websocket_url, s.latest_version, s.created_at, s.updated_at`

const presentSpec = (row: Spec): Spec => ({
  ...row,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})

const presentVersion = (row: Version): Version => ({ ...row, created_at: isoTime(row.created_at) })

export const specsSql = {
  list: listVisible(tables, columns, "specs s", "s"),
  one: `select ${columns} from specs s where ${isVisible(tables, "s")}`,
  schema: `
    select s.name, s.description, s.websocket_url, v.schema
    from specs s join spec_versions v on v.spec_id = s.id and v.version_number = s.latest_version
    where ${isVisible(tables, "s")}`,
  // A spec without a row on this page gives one row without an id; a spec that is not there gives none.
  versions: `
    select v.id, s.id as spec_id, v.version_number, v.content_hash, v.state_name, v.program_id, v.handler_count,
      v.section_count, v.created_at
    from specs s left join lateral (
      select * from spec_versions where spec_id = s.id order by id desc limit $3 offset $4
    ) v on true
    where ${isVisible(tables, "s")} order by v.id desc`,
}

export const specRoutes = (api: Api, services: Services): void => {
  endpoint(
    api,
    services,
    {
      ...reading(z.array(spec), "Specs"),
      path: "/api/specs",
      id: "listSpecs",
      summary: "The specs that the caller sees, newest first",
      query: pageQuery,
      codes: ["invalid-request"],
    },
    (c) => sendRecords<Spec>(c, specsSql.list, presentSpec),
  )

  endpoint(
    api,
    services,
    {
      ...reading(spec, "The spec"),
      path: "/api/specs/{id}",
      id: "getSpec",
      summary: "One spec",
      codes: ["invalid-request", "spec-not-found"],
    },
    async (c) => {
      const id = recordId(c, "spec-not-found")
      const [row] = await c.get("queries").query<Spec>(specsSql.one, [c.get("principal").userId, id])
      if (row === undefined) throw errors.fail("spec-not-found")
      return sendOwn(c, JSON.stringify(presentSpec(row)))
    },
  )

  endpoint(
    api,
    services,
    {
      ...reading(specSchema, "The schema of its latest version"),
      path: "/api/specs/{id}/schema",
      id: "getSpecSchema",
      summary: "What a spec's entities look like",
      codes: ["invalid-request", "spec-not-found"],
    },
    async (c) => {
      type Row = { name: string; description: string | null; websocket_url: string | null; schema: string }
      const id = recordId(c, "spec-not-found")
      const [row] = await c.get("queries").query<Row>(specsSql.schema, [c.get("principal").userId, id])
      if (row === undefined) throw errors.fail("spec-not-found")
      const { schema, ...head } = row
      return sendOwn(c, `${JSON.stringify(head).slice(0, -1)},"schema":${schema}}`)
    },
  )

  endpoint(
    api,
    services,
    {
      ...reading(z.array(specVersion), "Versions"),
      path: "/api/specs/{id}/versions",
      id: "listSpecVersions",
      summary: "A spec's versions, newest first",
      query: pageQuery,
      codes: ["invalid-request", "spec-not-found"],
    },
    async (c) => {
      const page = pageOf(c)
      const id = recordId(c, "spec-not-found")
      const values = [c.get("principal").userId, id, page.limit + 1, page.offset]
      const rows = await c.get("queries").query<Version | { id: null }>(specsSql.versions, values)
      if (rows.length === 0) throw errors.fail("spec-not-found")
      return sendPage(
        c,
        page,
        rows.filter((row) => row.id !== null),
        presentVersion,
      )
    },
  )
}
