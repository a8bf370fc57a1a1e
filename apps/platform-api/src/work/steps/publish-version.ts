// Publishes a version of a spec, for builds and restarts.
import { diffOf, jobOwner } from "../../compiler/compiler.ts"
import { eq, type Orm, sql } from "../../db/database.ts"
import { stackNames } from "../../db/schema/index.ts"
import { ofVersion } from "../../records/spec-versions.ts"
import { lineOf, previousVersion, putStack, servedVersion, StackConflict } from "../../registry/publication.ts"
import { raiseRevision } from "../../registry/stack-changes.ts"
import { sizeOf, type StackHead } from "../../registry/stack-bytes.ts"
import type { WorkContext } from "./context.ts"
import { Needed, WorkFailure } from "../queue/worker.ts"
import { readSpec, type VersionRow } from "../records.ts"

type Source = { readonly ownerId: number; readonly specId: number }

/** Whether the stack needs no approval, or has it. */
export const isApproved = async (
  tx: Orm,
  { name, visibility }: Pick<StackHead, "name" | "visibility">,
  source: Source,
  { config }: WorkContext,
): Promise<boolean> => {
  if (config.publicStacks === "people" || visibility !== "public") return true
  const [held] = await tx.select().from(stackNames).where(eq(stackNames.name, name))
  return held?.approved === true && held.line === lineOf(name, source)
}

/**
 * Reserves a name until the operator approves it. Returns whether that was done since it was looked up: the lock makes later approvals
 * wait. Throws StackConflict.
 */
export const holdName = async (tx: Orm, name: string, source: Source): Promise<boolean> => {
  const line = lineOf(name, source)
  const held = { name, ownerId: source.ownerId, line, freedAt: null }
  const [mine] = await tx
    .insert(stackNames)
    .values(held)
    .onConflictDoUpdate({
      target: stackNames.name,
      set: { ...held, approved: sql`${stackNames.approved} and ${stackNames.line} = ${line}` },
      setWhere: sql`${stackNames.line} = ${line} or ${stackNames.freedAt} is not null`,
    })
    .returning({ approved: stackNames.approved })
  if (mine === undefined) throw new StackConflict("stack-name-taken")
  return mine.approved
}

/** The versions to compare with: the previous one, and the one that readers have. */
const others = async (tx: Orm, stack: StackHead, version: VersionRow, source: Source) => {
  const line = lineOf(stack.name, source)
  return {
    previous: await previousVersion(tx, line, version.versionNumber),
    served: await servedVersion(tx, { line, stack: stack.name }),
  }
}

/** Reads, in a first transaction, what will be published and what it is compared with. */
export const read = async (tx: Orm, stack: StackHead, version: VersionRow, source: Source) => ({
  stack,
  version,
  source,
  ...(await others(tx, stack, version, source)),
})

/** Makes everything outside the last transaction. Throws AstTooLarge and CompilerBusy. */
export const prepare = async (
  { compiler, now }: WorkContext,
  { stack, version, source, previous, served }: Awaited<ReturnType<typeof read>>,
) => {
  const ast = ofVersion(version)
  const owner = jobOwner(source.ownerId)
  const bytes = await compiler.run("stack", { head: stack, ast, at: now() }, { size: sizeOf(ast), owner })
  const diffTo = (before: typeof previous) =>
    before && diffOf(compiler, { gzip: before.astGzip, isAnswer: true }, ast, { owner })
  const diff = await diffTo(previous)
  const known = [previous?.number, version.versionNumber].includes(served?.number)
  const toServed = known ? undefined : await diffTo(served)
  return { stack, version, source, bytes, diff, toServed, previous: previous?.number, served: served?.number }
}

/** Publishes a version, and returns when: a time read under the registry's lock. Throws StackConflict and WorkFailure. */
export const publishVersion = async (
  tx: Orm,
  { stack, version, source, bytes, diff, toServed, previous, served }: Awaited<ReturnType<typeof prepare>>,
  context: WorkContext,
): Promise<Date> => {
  const revision = await raiseRevision(tx)
  const at = context.now()
  // Read again under the lock, because the visibility may have changed since the bytes were made.
  const spec = await readSpec(tx, source.specId)
  const shown = { ...stack, visibility: spec.visibility }
  if (!(await isApproved(tx, shown, source, context))) {
    throw new WorkFailure(`waits for the operator: stack approve ${stack.name}, then try again`)
  }
  const now = await others(tx, stack, version, source)
  // Another version was published meanwhile, so everything is made again.
  if (now.previous?.number !== previous || now.served?.number !== served) throw new Needed(async () => {})
  const published = {
    ...shown,
    relay: false,
    browserSend: false,
    version: version.versionNumber,
    deprecated: spec.deprecated,
    message: version.message,
  }
  await putStack(tx, published, bytes, { revision, holder: source, diff, toServed, at })
  return at
}
