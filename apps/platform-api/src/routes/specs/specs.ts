import { z } from "@svc/openapi"
import { accountOwner, diffOf } from "../../compiler/compiler.ts"
import { diffText } from "../../compiler/tasks.ts"
import { and, desc, eq, exists, type Orm, prepared, sql } from "../../db/database.ts"
import { agentProfiles, specs, specShares, specVersions, visibilities } from "../../db/schema/index.ts"
import { errors } from "../../errors.ts"
import { astOfVersions, numbersOf } from "../../records/spec-versions.ts"
import { isOnPage, isVisible, selectVisible } from "../../records/visible.ts"
import { createRoutes, idPath, paged, pageQuery } from "../api.ts"
import { createRoute, revalidated, sendOwn } from "../create-route.ts"
import { listRoute, readBelongings, reading, readingAs, readOne, readPage, recordRoute } from "../owned.ts"
import { record, recordId, text, time } from "../record.ts"
import { deprecation, diffAnswer, schemaAnswer } from "../registry/schemas.ts"
import { diffQuery, existing, pairOf } from "../registry/registry.ts"

const spec = record({
  id: [specs.id, recordId.meta({ description: "Its id" })],
  name: [specs.name, text.meta({ description: "Its stack's name" })],
  entity_name: [specs.entityName, text.meta({ description: "Its main entity" })],
  description: [specs.description, text],
  url_slug: [specs.urlSlug, text.meta({ description: "A name that no other spec ever has" })],
  websocket_url: [specs.websocketUrl, text.meta({ description: "Where its stream is" })],
  latest_version: [specs.latestVersion, z.int().meta({ description: "0 while it has no version" })],
  created_at: [specs.createdAt, time],
  updated_at: [specs.updatedAt, time],
  visibility: [specs.visibility, z.enum(visibilities)],
})
export const specAnswer = spec.schema
  .extend({
    deprecated: deprecation.optional(),
    shared_with: z.array(text).optional().meta({ description: "Agents' slugs, shown only to the owner" }),
  })
  .openapi("Spec")

/** `shared_with` is only for the owner. */
const columns = (db: Orm) => {
  // The builder has no ordered aggregate and no `case`.
  const slugs = db
    .select({ slugs: sql`coalesce(json_agg(${agentProfiles.slug} order by ${agentProfiles.slug}), '[]')` })
    .from(specShares)
    .innerJoin(agentProfiles, eq(agentProfiles.userId, specShares.userId))
    .where(eq(specShares.recordId, specs.id))
  const isOwn = eq(specs.ownerId, sql.placeholder("account"))
  const shared_with = sql<string[] | null>`case when ${isOwn} then ${slugs} end`.as("shared_with")
  return { ...spec.columns, deprecated: specs.deprecated, shared_with }
}

export const presentSpec = ({ deprecated, shared_with, ...row }: SpecRow) => ({
  ...row,
  ...(deprecated !== null && { deprecated: JSON.parse(deprecated) as z.infer<typeof deprecation> }),
  ...(shared_with !== null && { shared_with }),
})

const schemaHead = record({
  name: [specs.name, text],
  description: [specs.description, text],
  websocket_url: [specs.websocketUrl, text],
})
/** Unlike the registry, a spec may have no URL. */
const specSchema = schemaAnswer.extend({ websocket_url: text.nullable() })

const version = record({
  id: [specVersions.id, recordId],
  spec_id: [specVersions.specId, recordId],
  version_number: [specVersions.versionNumber, z.int()],
  content_hash: [specVersions.contentHash, text],
  state_name: [specVersions.stateName, text],
  program_id: [specVersions.programId, text],
  handler_count: [specVersions.handlerCount, z.int()],
  section_count: [specVersions.sectionCount, z.int()],
  created_at: [specVersions.createdAt, time],
  message: [specVersions.message, text],
})
const versionAnswer = version.schema.openapi("SpecVersion")

export const specStatements = {
  list: prepared((db) =>
    db.select(columns(db)).from(specs).where(isOnPage("specs")).orderBy(desc(specs.id)).prepare("specs"),
  ),
  one: prepared((db) => db.select(columns(db)).from(specs).where(isVisible(db, "specs")).prepare("spec")),
  seen: prepared((db) => selectVisible(db, "specs").prepare("seen_spec")),
  schema: prepared((db) =>
    db
      .select({ head: schemaHead.columns, version: { schema: specVersions.schema } })
      .from(specs)
      .leftJoin(
        specVersions,
        and(eq(specVersions.specId, specs.id), eq(specVersions.versionNumber, specs.latestVersion)),
      )
      .where(isVisible(db, "specs"))
      .prepare("spec_schema"),
  ),
  versions: prepared((db) =>
    db
      .select(version.columns)
      .from(specVersions)
      .where(and(eq(specVersions.specId, sql.placeholder("id")), exists(selectVisible(db, "specs"))))
      .orderBy(desc(specVersions.id))
      .limit(sql.placeholder("limit"))
      .offset(sql.placeholder("offset"))
      .prepare("spec_versions"),
  ),
}

type SpecRow = Awaited<ReturnType<ReturnType<typeof specStatements.one>["execute"]>>[number]

export const specRoutes = createRoutes()

const path = "/api/specs"
const listSpecs = listRoute(path, "Specs", specAnswer)
specRoutes.openapi(listSpecs, async (c) => {
  const rows = await readPage(c, specStatements.list, c.req.valid("query"))
  return sendOwn(c, rows.map(presentSpec))
})

const getSpec = recordRoute(path, "Spec", specAnswer, { response: "The spec" })
specRoutes.openapi(getSpec, async (c) => {
  const [row] = await readOne(c, specStatements.one, c.req.valid("param").id, "spec-not-found")
  return sendOwn(c, presentSpec(row))
})

const getSpecSchema = createRoute(
  {
    method: "get",
    path: `${path}/{id}/schema`,
    operationId: "getSpecSchema",
    summary: "Get a spec's schema",
    description: "Describes the entities of its latest version.",
    ...reading,
    request: { params: idPath },
    responses: readingAs("The schema of its latest version", specSchema, "spec-not-found", "version-not-found"),
  },
  revalidated,
)
specRoutes.openapi(getSpecSchema, async (c) => {
  const [{ head, version: latest }] = await readOne(c, specStatements.schema, c.req.valid("param").id, "spec-not-found")
  if (latest === null) throw errors.fail("version-not-found")
  return sendOwn(c, { ...head, schema: JSON.parse(latest.schema) as z.infer<typeof specSchema>["schema"] })
})

const listSpecVersions = createRoute(
  {
    method: "get",
    path: `${path}/{id}/versions`,
    operationId: "listSpecVersions",
    summary: "List a spec's versions",
    description: "Lists them newest first.",
    ...reading,
    request: { params: idPath, query: pageQuery },
    responses: readingAs("Versions", z.array(versionAnswer), "spec-not-found"),
  },
  revalidated,
  paged,
)
specRoutes.openapi(listSpecVersions, async (c) => {
  const { versions, seen } = specStatements
  const { id: specId } = c.req.valid("param")
  return sendOwn(c, await readBelongings(c, versions, specId, c.req.valid("query"), seen, "spec-not-found"))
})

const diffSpecVersions = createRoute(
  {
    method: "get",
    path: `${path}/{id}/diff`,
    operationId: "diffSpecVersions",
    summary: "Compare two versions of a spec",
    description: "Lists the changes between two versions, by default the two latest.",
    ...reading,
    request: { params: idPath, query: diffQuery },
    responses: readingAs("The difference", diffAnswer, "invalid-ast", "spec-not-found", "version-not-found"),
  },
  revalidated,
)
specRoutes.openapi(diffSpecVersions, async (c) => {
  const { id: specId } = c.req.valid("param")
  await readOne(c, specStatements.seen, specId, "spec-not-found")
  const queries = c.get("queries")
  const { from, to } = await pairOf(c.req.valid("query"), () => numbersOf(queries, specId))
  const asts = await astOfVersions(queries, specId, [from, to])
  const [before, after] = [existing(asts.get(from)), existing(asts.get(to))]
  const about = { owner: accountOwner(c.get("principal")), signal: c.req.raw.signal }
  const diff = await diffOf(c.get("dependencies").compiler, before, after, about)
  return sendOwn<z.infer<typeof diffAnswer>>(c, JSON.parse(diffText({ from, to }, diff)))
})
