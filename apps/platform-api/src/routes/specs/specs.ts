import { createRoute, z } from "@svc/openapi"
import { specs, specVersions, visibilities } from "../../db/schema/index.ts"
import { isVisible, listVisible } from "../../records/visible.ts"
import { errors } from "../../errors.ts"
import { currentSchema, type Schema } from "../../registry/schema/derive-schema.ts"
import { astIn } from "../../registry/stack-bytes.ts"
import { astOfVersions, numbersOf } from "../../records/spec-versions.ts"
import { diffOf } from "../../compiler/compiler.ts"
import { diffText } from "../../compiler/tasks.ts"
import type { Dependencies } from "../../dependencies.ts"
import { type Api, idPath } from "../api.ts"
import { sendOwn } from "../conditional.ts"
import { reading, readingAs, readOne, sendBelongings, serveList, serveOne } from "../owned.ts"
import { pageQuery } from "../paging.ts"
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

export const presentSpec = (row: Row): z.infer<typeof specAnswer> => {
  const { deprecated, shared_with } = row
  return {
    ...spec.present(row),
    ...(typeof deprecated === "string" && { deprecated: JSON.parse(deprecated) }),
    ...(typeof shared_with === "string" && { shared_with: JSON.parse(shared_with) }),
  }
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

export const specRoutes = (api: Api, dependencies: Dependencies): void => {
  const path = "/api/specs"
  serveList(api, dependencies, path, "Specs", specAnswer, specsSql.list, presentSpec)
  const texts = { response: "The spec" }
  serveOne(api, dependencies, path, "Spec", specAnswer, texts, specsSql.one, ([row]) => presentSpec(row))

  const getSpecSchema = createRoute({
    method: "get",
    path: `${path}/{id}/schema`,
    operationId: "getSpecSchema",
    summary: "Get a spec's schema",
    description: "Describes the entities of its latest version.",
    ...reading(dependencies),
    request: { params: idPath },
    responses: readingAs("The schema of its latest version", specSchema, "spec-not-found", "version-not-found"),
  })
  api.openapi(getSpecSchema, async (c) => {
    const [row] = await readOne(c, specsSql.schema, c.req.valid("param").id, "spec-not-found")
    const { schema: stored, ast_gzip: gzip } = row
    if (typeof stored !== "string" || !(gzip instanceof Uint8Array)) throw errors.fail("version-not-found")
    const schema = currentSchema(JSON.parse(stored) as Schema, () => astIn({ gzip, isAnswer: false }))
    return sendOwn(c, { ...schemaHead.present(row), schema } as z.infer<typeof specSchema>)
  })

  const listSpecVersions = createRoute({
    method: "get",
    path: `${path}/{id}/versions`,
    operationId: "listSpecVersions",
    summary: "List a spec's versions",
    description: "Lists them newest first.",
    ...reading(dependencies),
    request: { params: idPath, query: pageQuery },
    responses: readingAs("Versions", z.array(versionAnswer), "spec-not-found"),
  })
  api.openapi(listSpecVersions, (c) => {
    const { id: specId } = c.req.valid("param")
    return sendBelongings(c, specsSql.versions, specId, c.req.valid("query"), "spec-not-found", version.present)
  })

  const diffSpecVersions = createRoute({
    method: "get",
    path: `${path}/{id}/diff`,
    operationId: "diffSpecVersions",
    summary: "Compare two versions of a spec",
    description: "Lists the changes between two versions, by default the two latest.",
    ...reading(dependencies),
    request: { params: idPath, query: diffQuery },
    responses: readingAs("The difference", diffAnswer, "invalid-ast", "spec-not-found", "version-not-found"),
  })
  api.openapi(diffSpecVersions, async (c) => {
    const { id: specId } = c.req.valid("param")
    await readOne(c, specsSql.one, specId, "spec-not-found")
    const queries = c.get("queries")
    const { from, to } = await pairOf(c.req.valid("query"), () => numbersOf(queries, specId))
    const asts = await astOfVersions(queries, specId, [from, to])
    const [before, after] = [existing(asts.get(from)), existing(asts.get(to))]
    const owner = `user:${c.get("principal").userId}`
    const diff = await diffOf(dependencies.compiler, before, after, owner)
    return sendOwn<z.infer<typeof diffAnswer>>(c, JSON.parse(diffText({ from, to }, diff)))
  })
}
