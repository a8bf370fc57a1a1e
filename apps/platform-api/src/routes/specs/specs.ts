import { z, validate } from "@svc/openapi"
import { specs, specVersions, visibilities } from "../../db/schema/index.ts"
import { isVisible, listVisible } from "../../records/visible.ts"
import { errors } from "../../errors.ts"
import { currentSchema, type Schema } from "../../registry/schema/derive-schema.ts"
import { astIn } from "../../registry/stack-bytes.ts"
import { astOfVersions, numbersOf } from "../../records/spec-versions.ts"
import { diffOf } from "../../compiler/compiler.ts"
import { diffText } from "../../compiler/tasks.ts"
import type { Dependencies } from "../../dependencies.ts"
import { sendOwn } from "../conditional.ts"
import type { Serve } from "../endpoint.ts"
import { belongingsOf, listOf, oneOf, reading, readOne } from "../owned.ts"
import { fieldsOf, id, record, type Row, text, time } from "../record.ts"
import { deprecation, diffAnswer, schemaAnswer } from "../registry/schemas.ts"
import { diffQuery, existing, pairOf } from "../registry/versions.ts"

const s = fieldsOf("s")
const spec = record({
  id: s(specs.id, id.meta({ description: "Its id" })),
  name: s(specs.name, text.meta({ description: "Its stack's name" })),
  entity_name: s(specs.entityName, text.meta({ description: "Its main entity" })),
  description: s(specs.description, text),
  url_slug: s(specs.urlSlug, text.meta({ description: "A name that no other spec ever has" })),
  websocket_url: s(specs.websocketUrl, text.meta({ description: "Where its stream is" })),
  latest_version: s(specs.latestVersion, z.int().meta({ description: "0 while it has no version" })),
  created_at: s(specs.createdAt, time),
  updated_at: s(specs.updatedAt, time),
  visibility: s(specs.visibility, z.enum(visibilities)),
})
export const specAnswer = spec.schema
  .extend({
    deprecated: deprecation.optional(),
    shared_with: z.array(text).optional().meta({ description: "Agents' slugs, shown only to the owner" }),
  })
  .openapi("Spec")

/** `shared_with` is only for the owner, account $1. */
const columns = `${spec.columns}, s.deprecated as deprecated, case when s.owner_id = $1 then (
    select coalesce(json_agg(p.slug order by p.slug), '[]')::text from spec_shares h
    join agent_profiles p on p.user_id = h.user_id where h.record_id = s.id
  ) end as shared_with`

export const presentSpec = (row: Row): Record<string, unknown> => {
  const told = (name: string) => {
    const stored = row[name]
    return typeof stored === "string" ? { [name]: JSON.parse(stored) as unknown } : {}
  }
  return { ...spec.present(row), ...told("deprecated"), ...told("shared_with") }
}

const schemaHead = record({
  name: s(specs.name, text),
  description: s(specs.description, text),
  websocket_url: s(specs.websocketUrl, text),
})
/** Unlike the registry, a spec may have no URL. */
const specSchema = schemaAnswer.extend({ websocket_url: text.nullable() })

const v = fieldsOf("v")
const version = record({
  id: v(specVersions.id, id),
  spec_id: v(specVersions.specId, id),
  version_number: v(specVersions.versionNumber, z.int()),
  content_hash: v(specVersions.contentHash, text),
  state_name: v(specVersions.stateName, text),
  program_id: v(specVersions.programId, text),
  handler_count: v(specVersions.handlerCount, z.int()),
  section_count: v(specVersions.sectionCount, z.int()),
  created_at: v(specVersions.createdAt, time),
  message: v(specVersions.message, text),
})
const versionAnswer = version.schema.openapi("SpecVersion")

export const specsSql = {
  list: listVisible("specs", columns, "specs s", "s"),
  one: `select ${columns} from specs s where ${isVisible("specs", "s")}`,
  schema: `
    select ${schemaHead.columns}, v.schema, v.ast_gzip
    from specs s left join spec_versions v on v.spec_id = s.id and v.version_number = s.latest_version
    where ${isVisible("specs", "s")}`,
  // A spec without versions on this page gives one row without an id. A missing spec gives no row.
  versions: `
    select ${version.columns} from specs s left join lateral (
      select * from spec_versions where spec_id = s.id order by id desc limit $3 offset $4
    ) v on true
    where ${isVisible("specs", "s")} order by v.id desc`,
}

export const specRoutes = (serve: Serve, dependencies: Dependencies): void => {
  const path = "/api/specs"
  serve(listOf(path, "Specs", specAnswer, specsSql.list, presentSpec))
  serve(oneOf(path, "Spec", specAnswer, "The spec", specsSql.one, ([row]) => presentSpec(row)))
  serve({
    ...reading(specSchema, "The schema of its latest version"),
    path: "/api/specs/{id}/schema",
    id: "getSpecSchema",
    summary: "Get a spec's schema",
    description: "Describes the entities of its latest version.",
    codes: ["invalid-request", "spec-not-found", "version-not-found"],
    handle: async (c) => {
      const [row] = await readOne(c, specsSql.schema, "spec-not-found")
      const { schema: stored, ast_gzip: gzip } = row
      if (typeof stored !== "string" || !(gzip instanceof Uint8Array)) throw errors.fail("version-not-found")
      const schema = currentSchema(JSON.parse(stored) as Schema, () => astIn({ gzip, isAnswer: false }))
      return sendOwn(c, JSON.stringify({ ...schemaHead.present(row), schema }))
    },
  })

  serve({
    ...belongingsOf(
      `${path}/{id}/versions`,
      versionAnswer,
      "Versions",
      specsSql.versions,
      "spec-not-found",
      version.present,
    ),
    id: "listSpecVersions",
    summary: "List a spec's versions",
  })

  serve({
    ...reading(diffAnswer, "The difference"),
    path: "/api/specs/{id}/diff",
    id: "diffSpecVersions",
    summary: "Compare two versions of a spec",
    description: "Lists the changes between two versions, by default the two latest.",
    query: diffQuery,
    codes: ["invalid-request", "invalid-ast", "spec-not-found", "version-not-found"],
    handle: async (c) => {
      const given = validate(diffQuery, c.req.query())
      const [row] = await readOne(c, specsSql.one, "spec-not-found")
      const specId = Number(row["id"])
      const queries = c.get("queries")
      const { from, to } = await pairOf(given, () => numbersOf(queries, specId))
      const asts = await astOfVersions(queries, specId, [from, to])
      const [before, after] = [existing(asts.get(from)), existing(asts.get(to))]
      const owner = `user:${c.get("principal").userId}`
      return sendOwn(c, diffText({ from, to }, await diffOf(dependencies.compiler, before, after, owner)))
    },
  })
}
