import { json, z } from "@svc/openapi"
import { accountOwner, diffOf } from "../../compiler/compiler.ts"
import { diffText, type MadeDiff, type PreparedVersion, type ReadAst } from "../../compiler/tasks.ts"
import { policies } from "../../auth/guard.ts"
import { eq, type Orm, requestMs, theRow } from "../../db/database.ts"
import { specs } from "../../db/schema/index.ts"
import { wrongField } from "../../errors.ts"
import { makeSpecSlug } from "../../records/names.ts"
import { checkName, checkNumber, checkRenamed, ownSpec, showAtOnce } from "../../records/own.ts"
import { shareSpec } from "../../records/sharing.ts"
import { addVersion, latestOwnVersion, ofVersion, VersionMoved } from "../../records/spec-versions.ts"
import { deprecation } from "../../registry/publication.ts"
import { deleteSpec } from "../../work/delete-spec.ts"
import { releaseName } from "../../work/endings.ts"
import { lockJobsOf, wakeParked } from "../../work/queue/jobs.ts"
import { createRoutes, idPath, jsonRequest, keyFailures } from "../api.ts"
import { checkPreconditions, conditional, createRoute } from "../create-route.ts"
import { change, changeFailures, changing, changingWithBody, versionIn } from "../change.ts"
import { newSpec, newVersion, specChange, versionAnswer } from "./bodies.ts"
import { presentSpec, specAnswer, specStatements } from "./specs.ts"

const answerOf = async (tx: Orm, userId: number, id: number) =>
  presentSpec(theRow(await specStatements.one(tx).execute({ account: userId, id })))

/** The first version of a new spec; undefined without an AST. */
const firstVersion = (input: z.infer<typeof newSpec>, ast: ReadAst | undefined): PreparedVersion | undefined => {
  const version = ast && versionIn(ast)
  const isEntity = version?.entities.some(({ stateName }) => stateName === input.entity_name) ?? true
  if (input.entity_name === undefined || isEntity) return version
  throw wrongField("invalid-request", "entity_name", "isn't an entity of ast_payload")
}

export const specChangeRoutes = createRoutes()

const createSpec = createRoute({
  method: "post",
  path: "/api/specs",
  operationId: "createSpec",
  summary: "Create a spec",
  description: "If an AST is sent, it becomes the first version.",
  ...changingWithBody(),
  request: { body: jsonRequest(newSpec) },
  responses: {
    201: json("The spec", specAnswer),
    ...changeFailures("invalid-ast", "spec-name-taken", "limit-reached"),
  },
})
specChangeRoutes.openapi(createSpec, (c) => {
  const input = c.req.valid("json")
  const prepared = firstVersion(input, c.get("upload")?.ast)
  return change(c, async ({ tx, at, userId, config, tell }) => {
    await checkNumber(tx, userId, config.perOwner.specs)
    await checkName(tx, userId, input.name)
    const row = {
      ownerId: userId,
      name: input.name,
      entityName: prepared === undefined ? null : (input.entity_name ?? null),
      description: input.description ?? null,
      urlSlug: makeSpecSlug(input.name, c.get("dependencies").randomBytes),
      websocketUrl: input.websocket_url ?? null,
      visibility: input.visibility,
      latestVersion: 0,
      createdAt: at,
      updatedAt: at,
    }
    const spec = theRow(await tx.insert(specs).values(row).returning())
    if (input.shared_with !== undefined) await shareSpec(tx, spec.id, input.shared_with)
    await tell("spec.create", `spec:${spec.id}`)
    if (prepared !== undefined) {
      await addVersion(tx, spec, prepared, { message: null, limit: config.versionsPerSpec, at })
      await tell("version.create", `spec:${spec.id} version:1`)
    }
    const body = await answerOf(tx, userId, spec.id)
    return { status: 201, body, location: `/api/specs/${spec.id}` } as const
  })
})

const changeSpec = createRoute(
  {
    method: "put",
    path: "/api/specs/{id}",
    operationId: "changeSpec",
    summary: "Change a spec",
    description:
      "`visibility`, `shared_with` and `deprecated` take effect on every replica within 2 seconds, the rest with the next build.",
    ...changingWithBody("spec-not-found"),
    request: { params: idPath, body: jsonRequest(specChange) },
    responses: {
      200: json("The spec", specAnswer),
      ...changeFailures("spec-not-found", "spec-name-taken", "spec-deployed", "precondition-failed"),
    },
  },
  conditional,
)
specChangeRoutes.openapi(changeSpec, (c) => {
  const { id } = c.req.valid("param")
  const input = c.req.valid("json")
  return change(c, async ({ tx, at, userId, config, tell }) => {
    const spec = await ownSpec(tx, userId, id)
    await checkPreconditions(c, () => answerOf(tx, userId, id))
    if (input.name !== undefined && input.name !== spec.name) {
      await checkRenamed(tx, id)
      await checkName(tx, userId, input.name)
      // Builds that wait for approval reserve the new name instead.
      await releaseName(tx, id)
      await wakeParked(tx, { specId: id })
    }
    // A worker's step would share a new record with those who could read the spec, or begin to wait for approval, meanwhile.
    if (input.visibility !== undefined || input.shared_with !== undefined) await lockJobsOf(tx, id)
    // A build that waits for approval may no longer need it.
    if (input.visibility !== undefined && input.visibility !== spec.visibility) await wakeParked(tx, { specId: id })
    const [changed] = await tx
      .update(specs)
      // What is undefined stays.
      .set({
        name: input.name,
        description: input.description,
        websocketUrl: input.websocket_url,
        visibility: input.visibility,
        deprecated: input.deprecated && deprecation(input.deprecated, spec.deprecated, at),
        updatedAt: at > spec.updatedAt ? at : spec.updatedAt,
      })
      .where(eq(specs.id, id))
      .returning()
    if (input.shared_with !== undefined) await shareSpec(tx, id, input.shared_with)
    const atOnce = [input.visibility, input.shared_with, input.deprecated].some((value) => value !== undefined)
    if (changed !== undefined && atOnce) await showAtOnce(tx, changed, config.publicStacks === "operator")
    await tell("spec.update", `spec:${id}`)
    return { status: 200, body: await answerOf(tx, userId, id) } as const
  })
})

const removeSpec = createRoute(
  {
    method: "delete",
    path: "/api/specs/{id}",
    operationId: "deleteSpec",
    summary: "Delete a spec",
    description: "Deletes its stopped deployments too. Its builds and runs stay.",
    ...changing("spec-not-found"),
    request: { params: idPath },
    responses: {
      200: json("Deleted", z.object({ id: z.int(), deleted: z.literal(true) })),
      ...keyFailures(
        policies.people,
        "invalid-request",
        "outcome-unknown",
        "spec-not-found",
        "spec-deployed",
        "precondition-failed",
      ),
    },
  },
  conditional,
)
specChangeRoutes.openapi(removeSpec, (c) => {
  const { id } = c.req.valid("param")
  return change(c, async ({ tx, at, userId, tell }) => {
    await ownSpec(tx, userId, id)
    await checkPreconditions(c, () => answerOf(tx, userId, id))
    await deleteSpec(tx, id, at)
    await tell("spec.delete", `spec:${id}`)
    return { status: 200, body: { id, deleted: true } } as const
  })
})

const addSpecVersion = createRoute({
  method: "post",
  path: "/api/specs/{id}/versions",
  operationId: "addSpecVersion",
  summary: "Add a version to a spec",
  description: "The content of the latest version again adds no version.",
  ...changingWithBody("spec-not-found"),
  request: { params: idPath, body: jsonRequest(newVersion) },
  responses: {
    200: json("The latest version has this content", versionAnswer),
    201: json("The version", versionAnswer),
    ...changeFailures("invalid-ast", "spec-not-found", "limit-reached"),
  },
})
specChangeRoutes.openapi(addSpecVersion, async (c) => {
  const { id } = c.req.valid("param")
  const { message = null } = c.req.valid("json")
  const prepared = versionIn(c.get("upload")?.ast)
  const principal = c.get("principal")
  const { userId: owner } = principal
  const about = { owner: accountOwner(principal), signal: c.req.raw.signal }
  const add = (latest: number | null, diff: MadeDiff | undefined) =>
    change(c, async ({ tx, at, userId, config, tell }) => {
      const spec = await ownSpec(tx, userId, id)
      const added = await addVersion(tx, spec, prepared, { message, limit: config.versionsPerSpec, at, latest })
      if (added.isNew) await tell("version.create", `spec:${id} version:${added.number}`)
      const from = added.isNew ? Math.max(added.number - 1, 1) : added.number
      const body: z.infer<typeof versionAnswer> = {
        version: added.number,
        content_is_new: added.contentIsNew,
        version_is_new: added.isNew,
        message: added.message,
        diff: JSON.parse(diffText({ from, to: added.number }, diff)),
      }
      return { status: added.isNew ? (201 as const) : (200 as const), body }
    })
  for (;;) {
    const latest = await c
      .get("dependencies")
      .database.within(requestMs)
      .run((tx) => latestOwnVersion(tx, owner, id))
    const diff =
      latest === undefined || latest.contentHash === prepared.contentHash
        ? undefined
        : await diffOf(c.get("dependencies").compiler, ofVersion(latest), ofVersion(prepared), about)
    try {
      return await add(latest?.id ?? null, diff)
    } catch (error) {
      // Somebody else added a version meanwhile. This can only happen as often as a spec can have versions.
      if (!(error instanceof VersionMoved)) throw error
    }
  }
})
