// What every publication does inside its transaction, the operator's and people's alike.
import { bind } from "../db/statements.ts"
import type { Orm } from "../db/database.ts"
import { registryChanges, registryState, stackNames, stacks, stackVersions } from "../db/schema/index.ts"
import { and, desc, eq, inArray, lt, ne, sql } from "../db/drizzle.ts"
import type { SchemaDiff } from "./schema/diff.ts"
import { spellingsOf } from "./websocket-url.ts"
import { bytesFor, type StackBytes, type StackHead } from "./stack-bytes.ts"

/** Why a stack can't be had under this name or URL. */
export class StackConflict extends Error {
  override readonly name = "StackConflict"
  readonly code: "stack-name-taken" | "websocket-url-taken"

  constructor(code: "stack-name-taken" | "websocket-url-taken") {
    const what = code === "stack-name-taken" ? "name, or had it until lately" : "websocket URL"
    super(`another stack has this ${what}`)
    this.code = code
  }
}

/** Whose stack it is: of a spec and its branch, or the operator's. */
export type StackHolder =
  | { readonly ownerId: number; readonly specId: number; readonly branch: string | null }
  | undefined

/** What versions belong to: they never pass on with a name. */
export const lineOf = (name: string, holder: StackHolder): string =>
  holder === undefined ? `name:${name}` : `spec:${holder.specId}${holder.branch === null ? "" : `:${holder.branch}`}`

const restMs = 30 * 24 * 3600 * 1000

/** Gives a publication its number. The lock on the one row makes publications wait for one another until they are committed. */
export const raiseRevision = async (tx: Orm): Promise<number> => {
  const [state] = await tx
    .update(registryState)
    .set({ revision: sql`${registryState.revision} + 1` })
    .returning()
  return state?.revision ?? 1
}

/**
 * Throws StackConflict where somebody else has the name, or the URL if one is known yet. To be called under the revision's
 * lock, or as a first look.
 */
export const checkFree = async (
  tx: Orm,
  { name, websocketUrl }: { readonly name: string; readonly websocketUrl: string | undefined },
  holder: StackHolder,
  at: Date,
): Promise<void> => {
  const line = lineOf(name, holder)
  const [held] = await tx.select().from(stackNames).where(eq(stackNames.name, name))
  if (held !== undefined && held.line !== line) {
    const same = held.ownerId === (holder?.ownerId ?? null)
    const rests = held.freedAt === null || (!same && held.freedAt.getTime() > at.getTime() - restMs)
    if (rests) throw new StackConflict("stack-name-taken")
  }
  if (websocketUrl === undefined) return
  const other = and(inArray(stacks.websocketUrl, [...spellingsOf(websocketUrl)]), ne(stacks.line, line))
  const [taken] = await tx.select({ id: stacks.id }).from(stacks).where(other)
  if (taken !== undefined) throw new StackConflict("websocket-url-taken")
}

/** The version before another one in its line; undefined for a first one. */
export const previousVersion = async (tx: Orm, line: string, number: number) => {
  const before = and(eq(stackVersions.line, line), lt(stackVersions.number, number))
  const [previous] = await tx
    .select({ number: stackVersions.number, astGzip: stackVersions.astGzip })
    .from(stackVersions)
    .where(before)
    .orderBy(desc(stackVersions.number))
    .limit(1)
  return previous
}

/** The version that readers of a stack have, or had until it was withdrawn; undefined where that is not known. */
export const servedVersion = async (tx: Orm, { line, stack }: { readonly line: string; readonly stack: string }) => {
  const [change] = await tx
    .select({ version: registryChanges.version })
    .from(registryChanges)
    .where(and(eq(registryChanges.line, line), eq(registryChanges.stack, stack)))
    .orderBy(desc(registryChanges.id))
    .limit(1)
  // Published before changes were recorded.
  const [current] = await tx.select({ version: stacks.version }).from(stacks).where(eq(stacks.line, line))
  const number = current?.version ?? change?.version
  if (number === undefined) return undefined
  const [version] = await tx
    .select({ number: stackVersions.number, astGzip: stackVersions.astGzip })
    .from(stackVersions)
    .where(and(eq(stackVersions.line, line), eq(stackVersions.number, number)))
  return version
}

type Verdict = Pick<SchemaDiff, "verdict" | "bump">

type Published = StackHead & {
  readonly relay: boolean
  readonly browserSend: boolean
  readonly version: number
  readonly deprecated: string | null
  readonly message: string | null
}

/** Puts a version of a stack in front of readers, its name with it. Throws StackConflict. */
export const putStack = async (
  tx: Orm,
  stack: Published,
  bytes: StackBytes,
  {
    revision,
    holder,
    diff,
    toServed,
    at,
  }: {
    readonly revision: number
    readonly holder: StackHolder
    /** How it differs from the version before. */
    readonly diff: (Verdict & { readonly changes: number }) | undefined
    /** How it differs from what readers have, where that is another version than the one before. */
    readonly toServed?: Verdict | undefined
    readonly at: Date
  },
): Promise<void> => {
  await checkFree(tx, stack, holder, at)
  const line = lineOf(stack.name, holder)
  const owner = { ownerId: holder?.ownerId ?? null }
  await tx
    .insert(stackNames)
    .values({ name: stack.name, line, ...owner })
    .onConflictDoUpdate({
      target: stackNames.name,
      // What was approved was approved for its line.
      set: { line, ...owner, freedAt: null, approved: sql`${stackNames.approved} and ${stackNames.line} = ${line}` },
    })
  const told = diff === undefined ? {} : { verdict: diff.verdict, bump: diff.bump, changes: diff.changes }
  const row = {
    ...stack,
    ...bytes,
    ...owner,
    specId: holder?.specId ?? null,
    branch: holder?.branch ?? null,
    verdict: null,
    bump: null,
    changes: null,
    ...told,
    revision,
    updatedAt: at,
  }
  await tx
    .insert(stacks)
    .values({ ...row, createdAt: at })
    .onConflictDoUpdate({ target: stacks.line, set: row })
  if (toServed !== undefined) {
    const { verdict, bump } = toServed
    await tx.update(registryChanges).set({ verdict, bump }).where(eq(registryChanges.id, revision))
  }
}

/** Changes, behind the registry's lock, who sees a stack: the texts that are served say so too. */
export const changeVisibility = async (
  tx: Orm,
  stack: typeof stacks.$inferSelect,
  visibility: StackHead["visibility"],
  { revision, deprecated }: { readonly revision: number; readonly deprecated: string | null },
): Promise<void> => {
  const texts =
    visibility === stack.visibility
      ? {}
      : {
          visibility,
          ...(await bytesFor({ detail: stack.detail, astGzip: Uint8Array.from(stack.astGzip) }, visibility)),
        }
  await tx
    .update(stacks)
    .set({ ...texts, deprecated, revision })
    .where(eq(stacks.id, stack.id))
}

const pastSql = `
  update registry_changes c set
    visibility = case when d.branch is null then coalesce($2, c.visibility) else c.visibility end,
    viewers = array(select owner_id from specs where id = $1 union select user_id from spec_shares where record_id = $1)
  from deployments d
  where d.spec_id = $1 and c.line = 'spec:' || d.spec_id || coalesce(':' || d.branch, '') and c.kind <> 'withdrawn'
    and not exists (select from stacks s where s.line = c.line)`

/**
 * Who sees the past of a spec's stacks that are not in the registry now. For the others the trigger on `stacks` does this.
 * @param visibility of the spec's production; undefined leaves it as it was
 */
export const showPast = (tx: Orm, specId: number, visibility: StackHead["visibility"] | undefined) =>
  tx.execute(bind(pastSql, [specId, visibility ?? null]))

/** What readers are told who should leave a stack. */
export type Deprecation = { readonly message: string; readonly successor?: string | undefined }

/** A deprecation as it is kept: other words about one do not move its beginning. */
export const deprecation = (given: Deprecation, before: string | null, at: Date): string =>
  JSON.stringify({ ...given, since: before === null ? at.toISOString() : sinceOf(before) })

/** Since when a stack is deprecated: a time. */
export const sinceOf = (deprecated: string): string => (JSON.parse(deprecated) as { since: string }).since

/** Lets go of names; each rests before others may take it. */
export const freeNames = (tx: Orm, line: string, at: Date) =>
  tx.update(stackNames).set({ freedAt: at, approved: false }).where(eq(stackNames.line, line))
