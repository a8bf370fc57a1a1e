import { matchesETag, requestHeader } from "@svc/http"
import { z } from "@svc/openapi"
import type { Context } from "hono"
import { policies } from "../auth/agent-policy.ts"
import type { AppEnv } from "../auth/guard.ts"
import { bind, rowsOf } from "../db/bind.ts"
import type { Orm } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { builds, deployments, runs, specs } from "../db/records-schema.ts"
import { stackNames, stacks, users } from "../db/schema.ts"
import { errors } from "../errors.ts"
import { agentSlugPattern, makeSpecSlug } from "../records/names.ts"
import { shareSpec, unshareSpec } from "../records/sharing.ts"
import { addVersion, prepareVersion } from "../records/spec-versions.ts"
import { specNamePattern } from "../records/stack-names.ts"
import { tagOf } from "../registry/answer.ts"
import { announce, freeNames, lineOf, raiseRevision } from "../registry/publication.ts"
import { normaliseWebsocketUrl } from "../registry/websocket-url.ts"
import type { Dependencies } from "../dependencies.ts"
import { endBuild } from "../work/build.ts"
import { dropJob } from "../work/jobs.ts"
import { failRun } from "../work/run.ts"
import { change } from "./change.ts"
import { type Api, endpoint } from "./endpoint.ts"
import { checkedAst, readLargeBody } from "./large-body.ts"
import { recordId } from "./owned.ts"
import type { Row } from "./record.ts"
import { diffAnswer } from "./registry-schemas.ts"
import { presentSpec, specAnswer, specsSql } from "./specs.ts"

const { and, count, eq, isNotNull, isNull, notInArray, sql } = orm

const storable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")
export const prose = (max: number) =>
  z.string().max(max, `must be at most ${max} characters`).refine(storable, "has a character that can't be stored")

const name = z
  .string()
  .toLowerCase()
  .regex(specNamePattern, "must be 1 to 63 letters, digits and single dashes, not a dash first")
const websocketUrl = z
  .string()
  .refine((given) => normaliseWebsocketUrl(given) !== undefined, "must be a ws:// or wss:// URL")
  .transform((given) => normaliseWebsocketUrl(given) ?? given)
  .meta({ type: "string" })
const visibility = z.enum(["public", "global", "private"], "must be public, global or private")
const sharedWith = z
  .array(z.string().regex(agentSlugPattern, "is no agent's slug"))
  .max(100, "must be at most 100 agents")
const mostShared = sharedWith.transform((slugs) => [...new Set(slugs)])

const newSpec = z.object({
  name,
  ast_payload: z.unknown().optional().meta({ type: "object" }),
  entity_name: prose(256).min(1).optional(),
  description: prose(4096).nullish(),
  websocket_url: websocketUrl.nullish(),
  visibility: visibility.default("private"),
  shared_with: mostShared.optional().meta({ type: "array", items: { type: "string" }, maxItems: 100 }),
})
const specChange = z.object({
  name: name.optional(),
  description: prose(4096).nullish(),
  websocket_url: websocketUrl.nullish(),
  visibility: visibility.optional(),
  shared_with: mostShared.optional().meta({ type: "array", items: { type: "string" }, maxItems: 100 }),
  deprecated: z
    .object({ message: prose(1024).min(1), successor: name.optional() })
    .nullish()
    .meta({ description: "Tells readers to leave; null takes it back" }),
})
const newVersion = z.object({ ast_payload: z.unknown().meta({ type: "object" }), message: prose(1024).nullish() })
const versionAnswer = z.object({
  version: z.int().positive(),
  content_is_new: z.boolean(),
  version_is_new: z.boolean(),
  diff: diffAnswer,
  message: z.string().nullable(),
})

const bodyCodes = ["invalid-json", "invalid-request", "payload-too-large", "unsupported-media-type"] as const

/** The caller's own spec, locked. A foreign one is missing like one that is not there. */
export const ownSpec = async (tx: Orm, userId: number, id: number): Promise<typeof specs.$inferSelect> => {
  const own = and(eq(specs.id, id), eq(specs.ownerId, userId), isNull(specs.deletedAt))
  const [spec] = await tx.select().from(specs).where(own).for("no key update")
  if (spec === undefined) throw errors.fail("spec-not-found")
  return spec
}

const answerOf = async (tx: Orm, userId: number, id: number): Promise<string> => {
  const [row] = await rowsOf<Row>(tx, bind(specsSql.one, [userId, id]))
  if (row === undefined) throw errors.fail("spec-not-found")
  return JSON.stringify(presentSpec(row))
}

/** One person's specs are made one after another, so that names and their number hold. */
const checkNew = async (tx: Orm, userId: number, specName: string, limit: number): Promise<void> => {
  await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for("no key update")
  const own = and(eq(specs.ownerId, userId), isNull(specs.deletedAt))
  const [owned] = await tx.select({ number: count() }).from(specs).where(own)
  if ((owned?.number ?? 0) >= limit)
    throw errors.fail("limit-reached", { message: `You have ${limit} specs, as SVC_SPECS_PER_OWNER allows.` })
  const [taken] = await tx
    .select({ id: specs.id })
    .from(specs)
    .where(and(own, eq(specs.name, specName)))
  if (taken !== undefined) throw errors.fail("spec-name-taken")
}

/** What readers may notice at once of a spec's change: who sees its stack, and whether they should leave it. */
const showAtOnce = async (tx: Orm, spec: typeof specs.$inferSelect, mustAsk: boolean): Promise<void> => {
  const revisionOf = () => raiseRevision(tx)
  const live = await tx.select().from(stacks).where(eq(stacks.specId, spec.id))
  for (const stack of live) {
    const held = await tx.select().from(stackNames).where(eq(stackNames.name, stack.name))
    const mayBePublic = !mustAsk || spec.visibility !== "public" || held[0]?.approved === true
    const shown = stack.branch === null && mayBePublic ? spec.visibility : stack.visibility
    // The stored text says who sees it too.
    const detail = JSON.stringify({ ...(JSON.parse(stack.detail) as object), visibility: shown })
    await tx
      .update(stacks)
      .set({ visibility: shown, detail, deprecated: spec.deprecated, revision: await revisionOf() })
      .where(eq(stacks.id, stack.id))
  }
  if (live.length > 0) await announce(tx)
}

export const specChangeRoutes = (api: Api, dependencies: Dependencies): void => {
  const { config } = dependencies
  const common = { tag: "records", access: policies.people } as const

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "post",
      path: "/api/specs",
      id: "createSpec",
      summary: "Make a spec, with its first version where an AST is given",
      largeBody: newSpec,
      success: [201, "The spec", specAnswer],
      codes: [...bodyCodes, "spec-name-taken", "limit-reached", "idempotency-key-reused", "outcome-unknown"],
    },
    async (c) => {
      const { given, text } = await readLargeBody(c, newSpec)
      const prepared = given.ast_payload === undefined ? undefined : await prepareVersion(checkedAst(given.ast_payload))
      const entities = prepared?.ast.entities.map(({ state_name }) => state_name)
      if (entities !== undefined && given.entity_name !== undefined && !entities.includes(given.entity_name)) {
        throw errors.fail("invalid-request", {
          details: { path: "entity_name", reason: "is no entity of ast_payload" },
        })
      }
      return change(dependencies, c, text, async ({ tx, at, userId, tell }) => {
        await checkNew(tx, userId, given.name, config.perOwner.specs)
        const [spec] = await tx
          .insert(specs)
          .values({
            ownerId: userId,
            name: given.name,
            entityName: prepared === undefined ? null : (given.entity_name ?? null),
            description: given.description ?? null,
            urlSlug: makeSpecSlug(given.name, dependencies.randomBytes),
            websocketUrl: given.websocket_url ?? null,
            visibility: given.visibility,
            latestVersion: 0,
            createdAt: at,
            updatedAt: at,
          })
          .returning()
        if (spec === undefined) throw new Error("the spec was not stored")
        if (given.shared_with !== undefined) await shareSpec(tx, spec.id, given.shared_with)
        await tell("spec.create", `spec:${spec.id}`)
        if (prepared !== undefined) {
          const limit = config.versionsPerSpec
          await addVersion(tx, spec, prepared, { message: null, limit, at })
          await tell("version.create", `spec:${spec.id} version:1`)
        }
        return { status: 201, body: await answerOf(tx, userId, spec.id), location: `/api/specs/${spec.id}` }
      })
    },
  )

  const matches = async (c: Context<AppEnv>, tx: Orm, userId: number, id: number): Promise<void> => {
    const wanted = requestHeader(c, "if-match")
    if (wanted === undefined) return
    const etag = `"${tagOf(await answerOf(tx, userId, id))}"`
    if (!matchesETag(wanted, [etag])) throw errors.fail("precondition-failed")
  }

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "put",
      path: "/api/specs/{id}",
      id: "changeSpec",
      summary: "Change a spec; visibility, shared_with and deprecated count at once, the rest with the next build",
      largeBody: specChange,
      success: [200, "The spec", specAnswer],
      codes: [
        ...bodyCodes,
        "spec-not-found",
        "spec-name-taken",
        "spec-deployed",
        "precondition-failed",
        "outcome-unknown",
      ],
    },
    async (c) => {
      const id = recordId(c, "spec-not-found")
      const { given, text } = await readLargeBody(c, specChange)
      return change(dependencies, c, text, async ({ tx, at, userId, tell }) => {
        const spec = await ownSpec(tx, userId, id)
        await matches(c, tx, userId, id)
        if (given.name !== undefined && given.name !== spec.name) {
          const deployed = and(
            eq(deployments.specId, id),
            isNull(deployments.deletedAt),
            isNotNull(deployments.stackName),
          )
          const [held] = await tx.select({ id: deployments.id }).from(deployments).where(deployed).limit(1)
          if (held !== undefined)
            throw errors.fail("spec-deployed", {
              hint: "A name stays while it is deployed: delete its deployments first.",
            })
          await checkNew(tx, userId, given.name, Infinity)
        }
        const deprecated =
          given.deprecated === undefined
            ? spec.deprecated
            : given.deprecated === null
              ? null
              : JSON.stringify({
                  message: given.deprecated.message,
                  since: at.toISOString(),
                  successor: given.deprecated.successor,
                })
        const [changed] = await tx
          .update(specs)
          .set({
            name: given.name ?? spec.name,
            description: given.description === undefined ? spec.description : given.description,
            websocketUrl: given.websocket_url === undefined ? spec.websocketUrl : given.websocket_url,
            visibility: given.visibility ?? spec.visibility,
            deprecated,
            updatedAt: at > spec.updatedAt ? at : spec.updatedAt,
          })
          .where(eq(specs.id, id))
          .returning()
        if (given.shared_with !== undefined) await shareSpec(tx, id, given.shared_with)
        if (changed !== undefined) await showAtOnce(tx, changed, config.publicStacks === "operator")
        await tell("spec.update", `spec:${id}`)
        return { status: 200, body: await answerOf(tx, userId, id) }
      })
    },
  )

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "delete",
      path: "/api/specs/{id}",
      id: "deleteSpec",
      summary: "Delete a spec and its stopped deployments; its builds and runs stay",
      success: [200, "Deleted", z.object({ id: z.int(), deleted: z.literal(true) })],
      codes: ["invalid-request", "spec-not-found", "spec-deployed", "outcome-unknown"],
    },
    async (c) => {
      const id = recordId(c, "spec-not-found")
      return change(dependencies, c, "", async ({ tx, at, userId, tell }) => {
        await ownSpec(tx, userId, id)
        // What is under way fails first: a deployment that is being made goes back to where it was.
        const open = and(
          eq(builds.specId, id),
          notInArray(builds.status, ["completed", "failed", "cancelled"]),
          jobOf("build", builds.id),
        )
        for (const build of await tx.select().from(builds).where(open).for("no key update")) {
          await endBuild(tx, build, "failed", "the spec was deleted", at)
        }
        const going = and(
          eq(runs.specId, id),
          notInArray(runs.status, ["succeeded", "failed", "cancelled"]),
          sql`exists (select 1 from run_steps p where p.run_id = ${runs.id})`,
        )
        for (const run of await tx.select().from(runs).where(going).for("no key update")) {
          if (run.specVersionId !== null) await failRun(tx, run, "the spec was deleted", at)
        }
        const ofSpec = and(eq(deployments.specId, id), isNull(deployments.deletedAt))
        const all = await tx.select().from(deployments).where(ofSpec).for("no key update")
        if (all.some(({ status }) => status === "active" || status === "updating")) throw errors.fail("spec-deployed")
        await unshareSpec(tx, id)
        for (const { id: deploymentId } of all) {
          await tx.update(deployments).set({ deletedAt: at }).where(eq(deployments.id, deploymentId))
          await dropJob(tx, "deployment", deploymentId)
        }
        for (const { branch } of all) await freeNames(tx, lineOf("", { ownerId: userId, specId: id, branch }), at)
        await tx.update(specs).set({ deletedAt: at }).where(eq(specs.id, id))
        await tell("spec.delete", `spec:${id}`)
        return { status: 200, body: JSON.stringify({ id, deleted: true }) }
      })
    },
  )

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "post",
      path: "/api/specs/{id}/versions",
      id: "addSpecVersion",
      summary: "Add a version; the latest one's content again adds none",
      largeBody: newVersion,
      success: [201, "The version", versionAnswer],
      others: { 200: ["The latest version has this content", versionAnswer] },
      codes: [...bodyCodes, "spec-not-found", "limit-reached", "idempotency-key-reused", "outcome-unknown"],
    },
    async (c) => {
      const id = recordId(c, "spec-not-found")
      const { given, text } = await readLargeBody(c, newVersion)
      const prepared = await prepareVersion(checkedAst(given.ast_payload))
      return change(dependencies, c, text, async ({ tx, at, userId, tell }) => {
        const spec = await ownSpec(tx, userId, id)
        const message = given.message ?? null
        const added = await addVersion(tx, spec, prepared, { message, limit: config.versionsPerSpec, at })
        if (added.isNew) await tell("version.create", `spec:${id} version:${added.number}`)
        const diff = added.diff ?? { verdict: "none", bump: "none", changes: [] }
        const from = added.isNew ? Math.max(added.number - 1, 1) : added.number
        const body = JSON.stringify({
          version: added.number,
          content_is_new: added.contentIsNew,
          version_is_new: added.isNew,
          diff: { from, to: added.number, ...diff },
          message,
        })
        return { status: added.isNew ? 201 : 200, body }
      })
    },
  )
}

const jobOf = (kind: string, id: typeof builds.id) =>
  sql`exists (select 1 from jobs j where j.kind = ${kind} and j.record_id = ${id})`
