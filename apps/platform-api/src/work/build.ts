// A build's way from a version to the registry, one step a transaction: each can be done again without harm.
import { audit } from "../audit.ts"
import type { Orm } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { deployments } from "../db/records-schema.ts"
import { stackNames, stacks } from "../db/schema.ts"
import { shareRecord } from "../records/sharing.ts"
import { storedAst } from "../records/spec-versions.ts"
import { branchFits, stackNameOf, stackNamePattern, streamUrlOf } from "../records/stack-names.ts"
import type { Ast } from "../registry/ast-shape.ts"
import { contentHash } from "../registry/content-hash.ts"
import { deriveShape } from "../registry/derive-schema.ts"
import { diffSchemas, type SchemaDiff } from "../registry/diff.ts"
import { parseAst } from "../registry/parse-ast.ts"
import { checkFree, diffToPrevious, lineOf, putStack, raiseRevision, StackConflict } from "../registry/publication.ts"
import { makeStackBytes, type StackBytes, type StackHead } from "../registry/stack-bytes.ts"
import { languages, typedModule } from "../registry/types/typed-module.ts"
import type { WorkContext } from "./context.ts"
import { moveBuild, moveDeployment } from "./events.ts"
import { nextCallMs } from "./hook.ts"
import { addJob, dropJob, type Job, restAfterCall, restJob, wakeJob } from "./jobs.ts"
import {
  type BuildRow,
  deploymentOf,
  lockBuild,
  readSpec,
  readVersion,
  type SpecRow,
  versionOf,
  type VersionRow,
} from "./records.ts"
import type { Handlers, InStep } from "./worker.ts"

const { and, eq, isNull, sql } = orm

const busyMs = 300

/** Why a build can't go on: its owner is told in these words. */
class BuildFailure extends Error {
  override readonly name = "BuildFailure"
}

/** What a branch's readers would notice; undefined where nothing is deployed there. */
export const diffToDeployed = async (
  tx: Orm,
  specId: number,
  branch: string | null,
  ast: Ast,
): Promise<SchemaDiff | undefined> => {
  const deployment = await deploymentOf(tx, specId, branch)
  const served = deployment === undefined ? undefined : await versionOf(tx, deployment)
  return served === undefined ? undefined : diffSchemas(deriveShape(storedAst(served.astGzip)), deriveShape(ast))
}

/** The first changes that break readers, in a line. */
export const breakingText = ({ changes }: SchemaDiff): string => {
  const texts = changes.filter(({ breaking }) => breaking).map(({ text }) => text)
  return texts.slice(0, 5).join("; ") + (texts.length > 5 ? `, and ${texts.length - 5} more` : "")
}

/** What a build publishes under which name, checked against what others have. Throws BuildFailure and StackConflict. */
const stackOf = (spec: SpecRow, branch: string | null, { config }: WorkContext): StackHead => {
  const name = stackNameOf(spec.name, branch)
  if (!stackNamePattern.test(name) || (branch !== null && !branchFits(spec.name, branch))) {
    throw new BuildFailure("the spec's name can't be a stack's: lower-case letters, digits and dashes, 63 at most")
  }
  const websocketUrl = streamUrlOf(spec, branch, config.streamUrlTemplate)
  if (websocketUrl === undefined) {
    throw new BuildFailure(
      branch === null
        ? "the spec has no websocket_url, and the platform no SVC_STREAM_URL_TEMPLATE to make one from"
        : "a branch takes its URL from SVC_STREAM_URL_TEMPLATE, which the platform does not have",
    )
  }
  return {
    name,
    description: spec.description,
    websocketUrl,
    visibility: branch === null ? spec.visibility : "private",
  }
}

/** Whether the operator wants to be asked first, and was not yet. The name is held meanwhile, for the word to name it. */
const waitsForApproval = async (
  tx: Orm,
  build: BuildRow,
  stack: StackHead,
  { config }: WorkContext,
): Promise<boolean> => {
  if (config.publicStacks === "people" || stack.visibility !== "public") return false
  const line = lineOf(stack.name, build)
  const held = { name: stack.name, ownerId: build.ownerId, line, freedAt: null }
  const [row] = await tx
    .insert(stackNames)
    .values(held)
    .onConflictDoUpdate({
      target: stackNames.name,
      set: { ...held, approved: sql`${stackNames.approved} and ${stackNames.line} = ${line}` },
    })
    .returning({ approved: stackNames.approved })
  return row?.approved !== true
}

/** Puts the deployment back where it was when the build or operation that held it came to nothing. */
const settle = async (tx: Orm, build: BuildRow, message: string, at: Date): Promise<number | undefined> => {
  const deployment = await deploymentOf(tx, build.specId, build.branch)
  if (deployment?.operation !== "deploy" || deployment.operationId !== build.id) return undefined
  await moveDeployment(tx, deployment.id, deployment.settledStatus ?? "failed", {
    at,
    eventType: "deploy_failed",
    buildId: deployment.currentBuildId,
    actor: "system",
    message,
  })
  await tx
    .update(deployments)
    .set({ operation: null, operationId: null, settledStatus: null })
    .where(eq(deployments.id, deployment.id))
  return deployment.id
}

/** Ends a build that does not reach its end, from any state: the registry stays as it was. */
export const endBuild = async (
  tx: Orm,
  build: BuildRow,
  status: "failed" | "cancelled",
  message: string,
  at: Date,
): Promise<void> => {
  await moveBuild(tx, build.id, status, at, { statusMessage: message })
  const deploymentId = await settle(tx, build, message, at)
  const called = await dropJob(tx, "build", build.id)
  // A hook that may have heard of this version is told of the one that stays.
  if (deploymentId !== undefined && called > 0) await addJob(tx, "notice", deploymentId, build.ownerId, build.specId)
  const line = lineOf("", build)
  const kept = sql`select 1 from deployments where spec_id = ${build.specId} and stack_name = ${stackNames.name} and deleted_at is null`
  await tx
    .delete(stackNames)
    .where(and(eq(stackNames.line, line), isNull(stackNames.freedAt), sql`not exists (${kept})`))
  if (build.runId !== null) await wakeJob(tx, "run", build.runId)
}

const check = (version: VersionRow): Ast => {
  const ast = parseAst(storedAst(version.astGzip))
  if (contentHash(ast) !== version.contentHash) throw new BuildFailure("the version's AST is not what was taken")
  return ast
}

/** pending → uploading → queued: what is to be built is there. */
const upload = async (tx: Orm, build: BuildRow, at: Date): Promise<void> => {
  if (build.status === "pending") await moveBuild(tx, build.id, "uploading", at)
  check(await readVersion(tx, build.specVersionId))
  await moveBuild(tx, build.id, "queued", at)
}

/** building → pushing: the AST is whole, modules can be made of it, and readers lose nothing that they may not lose. */
const compile = async (tx: Orm, build: BuildRow, spec: SpecRow, at: Date): Promise<void> => {
  const version = await readVersion(tx, build.specVersionId)
  const ast = check(version)
  const shape = deriveShape(ast)
  for (const language of languages) typedModule(shape, language, { name: spec.name, version: version.versionNumber })
  const diff = await diffToDeployed(tx, build.specId, build.branch, ast)
  if (diff?.verdict === "breaking" && !build.allowBreaking) {
    throw new BuildFailure(`breaking-change: ${breakingText(diff)}; allow_breaking builds it all the same`)
  }
  await moveBuild(tx, build.id, "pushing", at)
}

/** pushing → deploying: the deployment is this build's until it is through. */
const take = async (
  tx: Orm,
  build: BuildRow,
  spec: SpecRow,
  context: WorkContext,
  at: Date,
): Promise<"again" | number | null> => {
  const stack = stackOf(spec, build.branch, context)
  await checkFree(tx, stack, build, at)
  if (await waitsForApproval(tx, build, stack, context)) {
    const statusMessage = `waits for the operator: stack approve ${stack.name}`
    if (build.statusMessage !== statusMessage) {
      await tx.execute(sql`update builds set status_message = ${statusMessage} where id = ${build.id}`)
    }
    return null
  }
  const known = await deploymentOf(tx, build.specId, build.branch)
  if (known?.operation != null) return busyMs
  const hold = {
    operation: "deploy" as const,
    operationId: build.id,
    settledStatus: settledOf(known?.status),
    stackName: stack.name,
  }
  let id = known?.id
  if (id === undefined) {
    const { ownerId, specId, branch } = build
    const row = { ownerId, specId, branch, websocketUrl: stack.websocketUrl, ...hold }
    const [made] = await tx.insert(deployments).values(row).returning({ id: deployments.id })
    if (made === undefined) throw new Error("the deployment was not stored")
    id = made.id
    await shareRecord(tx, "deployment_shares", specId, id)
  } else await tx.update(deployments).set(hold).where(eq(deployments.id, id))
  await moveDeployment(tx, id, "updating", { at, eventType: "deploy", buildId: build.id, actor: "user" })
  await moveBuild(tx, build.id, "deploying", at, { statusMessage: null })
  return "again"
}

const settledOf = (status: string | null | undefined): "active" | "stopped" | "failed" =>
  status === "active" || status === "stopped" ? status : "failed"

/** What goes in front of readers, made before the transaction that puts it there. */
type Ready = { readonly stack: StackHead; readonly version: VersionRow; readonly ast: Ast; readonly bytes: StackBytes }

/** deploying → completed: registry row, deployment and build in one transaction. */
const deploy = async (
  tx: Orm,
  build: BuildRow,
  spec: SpecRow,
  { stack, version, ast, bytes }: Ready,
  at: Date,
): Promise<void> => {
  const deployment = await deploymentOf(tx, build.specId, build.branch)
  if (deployment === undefined) throw new BuildFailure("the deployment was deleted")
  const revision = await raiseRevision(tx)
  const line = lineOf(stack.name, build)
  const diff = await diffToPrevious(tx, line, version.versionNumber, deriveShape(ast))
  const published = {
    ...stack,
    relay: false,
    browserSend: false,
    version: version.versionNumber,
    deprecated: spec.deprecated,
    message: version.message,
  }
  await putStack(tx, published, bytes, { revision, holder: build, diff, at })
  const done = {
    websocketUrl: stack.websocketUrl,
    currentBuildId: build.id,
    operation: null,
    operationId: null,
    settledStatus: null,
  }
  await tx.update(deployments).set(done).where(eq(deployments.id, deployment.id))
  await moveDeployment(tx, deployment.id, "active", { at, eventType: "deployed", buildId: build.id, actor: "system" })
  await moveBuild(tx, build.id, "completed", at, { websocketUrl: stack.websocketUrl })
  await audit(tx, {
    at,
    actor: `user:${build.ownerId}`,
    action: "deployment.deploy",
    target: `deployment:${deployment.id}`,
  })
  await dropJob(tx, "build", build.id)
  if (build.runId !== null) await wakeJob(tx, "run", build.runId)
}

export const buildHandler = (context: WorkContext): Handlers["build"] => {
  const now = () => new Date(context.wallClock())

  const finish = async (job: Job, inStep: InStep): Promise<"again" | "rest"> => {
    const ready = await inStep(async (tx) => {
      const build = await lockBuild(tx, job.id)
      const spec = await readSpec(tx, build.specId)
      const version = await readVersion(tx, build.specVersionId)
      const deployment = await deploymentOf(tx, build.specId, build.branch)
      return { build, version, stack: stackOf(spec, build.branch, context), deploymentId: deployment?.id }
    })
    const { build, version, stack, deploymentId } = ready
    if (context.hook !== undefined) {
      const data = {
        deployment_id: deploymentId,
        spec_id: build.specId,
        name: stack.name,
        branch: build.branch,
        version: version.versionNumber,
        content_hash: version.contentHash,
        websocket_url: stack.websocketUrl,
        ast_url: context.astUrl(version.id, now()),
      }
      if (!(await context.hook({ id: `msg_build_${build.id}`, type: "deployment.deploy", data }, now()))) {
        const rest = nextCallMs(job.attempts, job.age_ms)
        await inStep(async (tx) => {
          if (rest !== undefined) return restAfterCall(tx, job, rest)
          return endBuild(
            tx,
            await lockBuild(tx, job.id),
            "failed",
            "deploy-hook: the stream servers did not take it",
            now(),
          )
        })
        return "rest"
      }
    }
    const ast = storedAst(version.astGzip)
    const bytes = await makeStackBytes(stack, ast, now())
    await inStep(async (tx) => {
      const current = await lockBuild(tx, job.id)
      if (current.status !== "deploying") return
      const spec = await readSpec(tx, current.specId)
      await deploy(tx, current, spec, { stack, version, ast, bytes }, now())
    })
    return "rest"
  }

  const step = async (job: Job, inStep: InStep): Promise<"again" | "rest"> => {
    const next = await inStep(async (tx): Promise<"again" | "deploying" | number | null> => {
      const build = await lockBuild(tx, job.id)
      const spec = await readSpec(tx, build.specId)
      const at = now()
      switch (build.status) {
        case "pending":
        case "uploading":
          await upload(tx, build, at)
          // Given back: whose turn it is, the next claim tells.
          return 0
        case "queued":
          await moveBuild(tx, build.id, "building", at)
          return "again"
        case "building":
          await compile(tx, build, spec, at)
          return "again"
        case "pushing": {
          const taken = await take(tx, build, spec, context, at)
          if (taken !== "again") await restJob(tx, job, taken)
          return taken
        }
        case "deploying":
          return "deploying"
        default:
          await dropJob(tx, "build", build.id)
          return null
      }
    })
    if (next === "deploying") return finish(job, inStep)
    return next === "again" ? "again" : "rest"
  }

  const fail = (job: Job, inStep: InStep, message: string): Promise<void> =>
    inStep(async (tx) => endBuild(tx, await lockBuild(tx, job.id), "failed", message, now()))

  return {
    step: async (job, inStep) => {
      try {
        return await step(job, inStep)
      } catch (error) {
        const reason =
          error instanceof BuildFailure
            ? error.message
            : error instanceof StackConflict
              ? `${error.code}: ${error.message}`
              : undefined
        if (reason === undefined) throw error
        await fail(job, inStep, reason)
        return "rest"
      }
    },
    fail: (job, inStep) => fail(job, inStep, "internal-error: the platform failed; its log says how"),
  }
}

/** The stack that a deployment shows readers, gone from them. */
export const withdraw = async (
  tx: Orm,
  deployment: { readonly specId: number; readonly branch: string | null },
): Promise<void> => {
  const line = lineOf("", { ownerId: 0, ...deployment })
  await raiseRevision(tx)
  await tx.delete(stacks).where(eq(stacks.line, line))
}
