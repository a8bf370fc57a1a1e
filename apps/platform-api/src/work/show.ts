// A version of a spec on its way in front of readers, whichever operation brings it there.
import type { Orm } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { stackNames } from "../db/schema.ts"
import { storedAst } from "../records/spec-versions.ts"
import { deriveShape } from "../registry/derive-schema.ts"
import { diffToPrevious, lineOf, putStack, raiseRevision, StackConflict } from "../registry/publication.ts"
import { makeStackBytes, type StackHead } from "../registry/stack-bytes.ts"
import type { WorkContext } from "./context.ts"
import { readSpec, type SpecRow, type VersionRow } from "./records.ts"

const { eq, sql } = orm

/** Where a stack comes from: a build or a deployment. */
type Source = { readonly ownerId: number; readonly specId: number; readonly branch: string | null }

/** Who may see it: branches are their owner's alone. */
export const visibilityOf = (spec: SpecRow, branch: string | null): StackHead["visibility"] =>
  branch === null ? spec.visibility : "private"

/** Whether nobody has to be asked before readers see it. */
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

/** Holds a name for the operator's word to be about it. Throws StackConflict. */
export const holdName = async (tx: Orm, name: string, source: Source): Promise<void> => {
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
    .returning({ name: stackNames.name })
  if (mine === undefined) throw new StackConflict("stack-name-taken")
}

/** All that is made before the transaction that shows it. */
export const prepare = async (stack: StackHead, version: VersionRow, at: Date) => {
  const ast = storedAst(version.astGzip)
  return { stack, version, ast, bytes: await makeStackBytes(stack, ast, at) }
}

/** Why a version can't be shown now. */
export class NotApproved extends Error {
  override readonly name = "NotApproved"
}

/** Puts a version in front of readers. Throws StackConflict and NotApproved. */
export const show = async (
  tx: Orm,
  { stack, version, ast, bytes }: Awaited<ReturnType<typeof prepare>>,
  source: Source,
  context: WorkContext,
  at: Date,
): Promise<void> => {
  const revision = await raiseRevision(tx)
  // Behind the lock that changes of it wait for: who sees the stack may have changed since the bytes were made.
  const spec = await readSpec(tx, source.specId)
  const shown = { ...stack, visibility: visibilityOf(spec, source.branch) }
  if (!(await isApproved(tx, shown, source, context))) {
    throw new NotApproved(`waits for the operator: stack approve ${stack.name}, then try again`)
  }
  const diff = await diffToPrevious(tx, lineOf(stack.name, source), version.versionNumber, deriveShape(ast))
  const published = {
    ...shown,
    relay: false,
    browserSend: false,
    version: version.versionNumber,
    deprecated: spec.deprecated,
    message: version.message,
  }
  const right = shown.visibility === stack.visibility ? bytes : await makeStackBytes(shown, ast, at)
  await putStack(tx, published, right, { revision, holder: source, diff, at })
}
