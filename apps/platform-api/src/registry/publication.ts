// What every publication does in its transaction, for the operator and for people.
import type { SQL } from "drizzle-orm"
import { and, desc, eq, inArray, lt, ne, type Orm, orm, sql } from "../db/database.ts"
import { lineReaders, specs, stackNames, stacks, stackVersions } from "../db/schema/index.ts"
import { lastServed, type Shown, recordChanges, type Verdict, viewersOf } from "./stack-changes.ts"
import { spellingsOf } from "./websocket-url.ts"
import type { StackBytes, StackHead } from "./stack-bytes.ts"

/** The stack's name or URL isn't available. */
export class StackConflict extends Error {
  readonly code: "stack-name-taken" | "websocket-url-taken"

  constructor(code: "stack-name-taken" | "websocket-url-taken") {
    const what = code === "stack-name-taken" ? "name, or had it recently" : "websocket URL"
    super(`another stack has this ${what}`)
    this.code = code
  }
}

/** The owner of a stack: a person's spec, or the operator. */
type StackHolder = { readonly ownerId: number; readonly specId: number } | undefined

/** What versions belong to. A line never passes to another stack with the name. */
export const lineOf = (name: string, holder: { readonly specId: number } | undefined): string =>
  holder === undefined ? `name:${name}` : lineOfSpec(holder.specId)

export const lineOfSpec = (specId: number): string => `spec:${specId}`

export const restMs = 30 * 24 * 3600 * 1000

/**
 * Throws StackConflict if somebody else has the name, or the URL if it is known. Call it under the revision's lock, or
 * as a preliminary check.
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

/** The latest version of a line, or of those that `which` selects; undefined if there is none. */
export const latestVersion = async (tx: Orm, line: string, which?: SQL) => {
  const { number, astGzip } = stackVersions
  const ofLine = and(eq(stackVersions.line, line), which)
  const [latest] = await tx.select({ number, astGzip }).from(stackVersions).where(ofLine).orderBy(desc(number)).limit(1)
  return latest
}

/** The version before another one in its line; undefined for the first. */
export const previousVersion = (tx: Orm, line: string, number: number) =>
  latestVersion(tx, line, lt(stackVersions.number, number))

/** The version that a stack serves, or served until it was withdrawn; undefined if unknown. */
export const servedVersion = async (tx: Orm, { line, stack }: { readonly line: string; readonly stack: string }) => {
  const [current] = await tx.select({ version: stacks.version }).from(stacks).where(eq(stacks.line, line))
  const number = current?.version ?? (await lastServed(tx, { line, name: stack }))
  return number === undefined ? undefined : latestVersion(tx, line, eq(stackVersions.number, number))
}

/** What readers notice of a stack. */
const noticed = {
  name: stacks.name,
  line: stacks.line,
  version: stacks.version,
  visibility: stacks.visibility,
  viewers: stacks.viewers,
  deprecated: stacks.deprecated,
  message: stacks.message,
}

type Published = StackHead &
  Pick<typeof stacks.$inferSelect, "relay" | "browserSend" | "version" | "deprecated" | "message">

/** Publishes a version of a stack and takes its name. Throws StackConflict. */
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
    /** The difference from the previous version. */
    readonly diff: (Verdict & { readonly changes: number }) | undefined
    /** The difference from the served version, if that isn't the previous one. */
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
      // The approval was for its line.
      set: { line, ...owner, freedAt: null, approved: sql`${stackNames.approved} and ${stackNames.line} = ${line}` },
    })
  const row = {
    ...stack,
    ...bytes,
    ...owner,
    specId: holder?.specId ?? null,
    viewers: await viewersOf(tx, owner.ownerId, holder?.specId ?? null),
    verdict: diff?.verdict ?? null,
    bump: diff?.bump ?? null,
    changes: diff?.changes ?? null,
    revision,
    updatedAt: at,
  }
  const [before] = await tx.select(noticed).from(stacks).where(eq(stacks.line, line))
  await tx
    .insert(stacks)
    .values({ ...row, createdAt: at })
    .onConflictDoUpdate({ target: stacks.line, set: row })
  await recordChanges(tx, revision, before, { ...row, line }, toServed ?? diff)
}

type Stack = Shown & Pick<typeof stacks.$inferSelect, "id" | "ownerId" | "specId">

/** Changes a stack without publishing a version. Call it under the registry's lock. */
export const updateStack = async (
  tx: Orm,
  stack: Stack,
  set: Partial<Pick<typeof stacks.$inferSelect, "visibility" | "deprecated">>,
  revision: number,
): Promise<void> => {
  const viewersNow = await viewersOf(tx, stack.ownerId, stack.specId)
  await tx
    .update(stacks)
    .set({ ...set, viewers: viewersNow, revision })
    .where(eq(stacks.id, stack.id))
  await recordChanges(tx, revision, stack, { ...stack, ...set, viewers: viewersNow })
}

/** Removes a stack from the registry. Returns its name, if it was there. Call it under the registry's lock. */
export const removeStack = async (tx: Orm, which: SQL | undefined, revision: number): Promise<string | undefined> => {
  const [removed] = await tx.delete(stacks).where(which).returning(noticed)
  if (removed !== undefined) await recordChanges(tx, revision, removed, undefined)
  return removed?.name
}

/**
 * Updates who can read the changes of a spec's withdrawn stack. A published stack has it done with each change of its own.
 * @param visibility undefined leaves it unchanged
 */
export const showPast = async (
  tx: Orm,
  specId: number,
  visibility: StackHead["visibility"] | undefined,
): Promise<void> => {
  const [spec] = await tx.select({ ownerId: specs.ownerId }).from(specs).where(eq(specs.id, specId))
  const viewers = await viewersOf(tx, spec?.ownerId ?? null, specId)
  const published = tx.select({ id: stacks.id }).from(stacks).where(eq(stacks.line, lineReaders.line))
  await tx
    .update(lineReaders)
    .set(visibility === undefined ? { viewers } : { viewers, visibility })
    .where(and(eq(lineReaders.line, lineOfSpec(specId)), orm.notExists(published)))
}

/** What readers of a deprecated stack are told. */
export type Deprecation = { readonly message: string; readonly successor?: string | undefined }

/** A deprecation as it is stored. A changed message keeps the original time. */
export const deprecation = (given: Deprecation, before: string | null, at: Date): string =>
  JSON.stringify({ ...given, since: before === null ? at.toISOString() : sinceOf(before) })

export const sinceOf = (deprecated: string): string => (JSON.parse(deprecated) as { since: string }).since

/** Releases the names of a line. They stay reserved for a while. */
export const freeNames = (tx: Orm, line: string, at: Date) =>
  tx.update(stackNames).set({ freedAt: at, approved: false }).where(eq(stackNames.line, line))
