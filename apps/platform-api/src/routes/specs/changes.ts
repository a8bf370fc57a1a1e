import { z } from "@svc/openapi"
import type { Context } from "hono"
import { diffOf } from "../../compiler/compiler.ts"
import { diffText, type MadeDiff } from "../../compiler/tasks.ts"
import { type AppEnv, requestMs } from "../../auth/guard.ts"
import { policies } from "../../auth/agent-policy.ts"
import { bind, rowsOf } from "../../db/statements.ts"
import type { Orm } from "../../db/database.ts"
import { eq } from "../../db/drizzle.ts"
import { specs } from "../../db/schema/index.ts"
import type { Dependencies } from "../../dependencies.ts"
import { errors } from "../../errors.ts"
import { makeSpecSlug } from "../../records/names.ts"
import { ownSpec } from "../../records/own.ts"
import { shareSpec } from "../../records/sharing.ts"
import { checkName, checkNumber, checkRenamed, deprecatedNow, showAtOnce } from "../../records/spec-rules.ts"
import { addVersion, latestOwnVersion, ofVersion, VersionMoved } from "../../records/spec-versions.ts"
import { deleteSpec } from "../../work/delete-spec.ts"
import { change, changeCodes, changesOf } from "../change.ts"
import { checkPreconditions, isConditional } from "../conditional.ts"
import type { Serve } from "../endpoint.ts"
import { readLargeBody, versionIn } from "../large-body.ts"
import { recordId } from "../owned.ts"
import type { Row } from "../record.ts"
import { newSpec, newVersion, specChange, versionAnswer } from "./bodies.ts"
import { presentSpec, specAnswer, specsSql } from "./specs.ts"

const answerOf = async (tx: Orm, userId: number, id: number): Promise<string> => {
  const [row] = await rowsOf<Row>(tx, bind(specsSql.one, [userId, id]))
  if (row === undefined) throw errors.fail("spec-not-found")
  return JSON.stringify(presentSpec(row))
}

export const specChangeRoutes = (serve: Serve, dependencies: Dependencies): void => {
  const { config } = dependencies
  const serveChange = changesOf(serve, dependencies)

  serveChange({
    path: "/api/specs",
    id: "createSpec",
    summary: "Create a spec",
    description: "If an AST is given, it becomes the first version.",
    largeBody: newSpec,
    success: [201, "The spec", specAnswer],
    codes: ["invalid-ast", "spec-name-taken", "limit-reached"],
    prepare: (given, ast) => {
      const version = ast && versionIn(ast)
      const isEntity = version?.entities.some(({ stateName }) => stateName === given.entity_name) ?? true
      if (given.entity_name === undefined || isEntity) return version
      const reason = "isn't an entity of ast_payload"
      throw errors.fail("invalid-request", { details: { path: "entity_name", reason } })
    },
    work: async ({ tx, at, userId, tell }, { given, prepared }) => {
      await checkNumber(tx, userId, config.perOwner.specs)
      await checkName(tx, userId, given.name)
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
        await addVersion(tx, spec, prepared, { message: null, limit: config.versionsPerSpec, at })
        await tell("version.create", `spec:${spec.id} version:1`)
      }
      return { status: 201, body: await answerOf(tx, userId, spec.id), location: `/api/specs/${spec.id}` }
    },
  })

  const checkUnchanged = async (c: Context<AppEnv>, tx: Orm, userId: number, id: number): Promise<void> => {
    if (isConditional(c)) checkPreconditions(c, await answerOf(tx, userId, id))
  }

  serveChange({
    method: "put",
    path: "/api/specs/{id}",
    id: "changeSpec",
    summary: "Change a spec",
    description: "`visibility`, `shared_with` and `deprecated` take effect at once, the rest with the next build.",
    headers: ["If-Match"],
    largeBody: specChange,
    success: [200, "The spec", specAnswer],
    missing: "spec-not-found",
    codes: ["spec-name-taken", "spec-deployed", "precondition-failed"],
    work: async ({ tx, at, userId, tell }, { c, id, given }) => {
      const spec = await ownSpec(tx, userId, id)
      await checkUnchanged(c, tx, userId, id)
      if (given.name !== undefined && given.name !== spec.name) {
        await checkRenamed(tx, id)
        await checkName(tx, userId, given.name)
      }
      const [changed] = await tx
        .update(specs)
        // What is undefined stays.
        .set({
          name: given.name,
          description: given.description,
          websocketUrl: given.websocket_url,
          visibility: given.visibility,
          deprecated: deprecatedNow(given.deprecated, spec, at),
          updatedAt: at > spec.updatedAt ? at : spec.updatedAt,
        })
        .where(eq(specs.id, id))
        .returning()
      if (given.shared_with !== undefined) await shareSpec(tx, id, given.shared_with)
      const atOnce = [given.visibility, given.shared_with, given.deprecated].some((value) => value !== undefined)
      if (changed !== undefined && atOnce) await showAtOnce(tx, changed, config.publicStacks === "operator")
      await tell("spec.update", `spec:${id}`)
      return { status: 200, body: await answerOf(tx, userId, id) }
    },
  })

  serveChange({
    method: "delete",
    path: "/api/specs/{id}",
    id: "deleteSpec",
    summary: "Delete a spec",
    description: "Deletes its stopped deployments too. Its builds and runs stay.",
    headers: ["If-Match"],
    success: [200, "Deleted", z.object({ id: z.int(), deleted: z.literal(true) })],
    missing: "spec-not-found",
    codes: ["spec-deployed", "precondition-failed"],
    work: async ({ tx, at, userId, tell }, { c, id }) => {
      await ownSpec(tx, userId, id)
      await checkUnchanged(c, tx, userId, id)
      await deleteSpec(tx, id, at)
      await tell("spec.delete", `spec:${id}`)
      return { status: 200, body: JSON.stringify({ id, deleted: true }) }
    },
  })

  serve({
    tag: "records",
    access: policies.people,
    method: "post",
    path: "/api/specs/{id}/versions",
    id: "addSpecVersion",
    summary: "Add a version to a spec",
    description: "The content of the latest version again adds no version.",
    largeBody: newVersion,
    success: [201, "The version", versionAnswer],
    others: { 200: ["The latest version has this content", versionAnswer] },
    codes: [...changeCodes, "invalid-ast", "spec-not-found", "limit-reached"],
    handle: async (c) => {
      const id = recordId(c, "spec-not-found")
      const { given, hash, ast = { faults: [] } } = await readLargeBody(dependencies, c, newVersion)
      const prepared = versionIn(ast)
      const { userId: owner } = c.get("principal")
      const message = given.message ?? null
      const add = (latest: number | null, diff: MadeDiff | undefined) =>
        change(dependencies, c, hash, async ({ tx, at, userId, tell }) => {
          const spec = await ownSpec(tx, userId, id)
          const added = await addVersion(tx, spec, prepared, { message, limit: config.versionsPerSpec, at, latest })
          if (added.isNew) await tell("version.create", `spec:${id} version:${added.number}`)
          const from = added.isNew ? Math.max(added.number - 1, 1) : added.number
          const body = JSON.stringify({
            version: added.number,
            content_is_new: added.contentIsNew,
            version_is_new: added.isNew,
            message: added.message,
          })
          const difference = diffText({ from, to: added.number }, diff)
          return { status: added.isNew ? 201 : 200, body: `${body.slice(0, -1)},"diff":${difference}}` }
        })
      for (;;) {
        const latest = await dependencies.database.within(requestMs).run((tx) => latestOwnVersion(tx, owner, id))
        const diff =
          latest === undefined || latest.contentHash === prepared.contentHash
            ? undefined
            : await diffOf(dependencies.compiler, ofVersion(latest), ofVersion(prepared), `user:${owner}`)
        try {
          return await add(latest?.id ?? null, diff)
        } catch (error) {
          // Somebody else added a version meanwhile. This can only happen as often as a spec can have versions.
          if (!(error instanceof VersionMoved)) throw error
        }
      }
    },
  })
}
