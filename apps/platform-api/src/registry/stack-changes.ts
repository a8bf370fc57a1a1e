// What readers are told of each change of a stack, in the transaction that makes it. Only `publication.ts` writes stacks.
import { and, desc, eq, type Orm, sql, theRow } from "../db/database.ts"
import {
  type changeKinds,
  lineReaders,
  registryChanges,
  registryState,
  specShares,
  type stacks,
} from "../db/schema/index.ts"
import type { SchemaDiff } from "./schema/diff.ts"

/** The channel on which the database announces every change of the registry. */
export const registryChannel = "svc_registry"

/** What readers notice of a stack. */
export type Shown = Pick<
  typeof stacks.$inferSelect,
  "name" | "line" | "version" | "visibility" | "viewers" | "deprecated" | "message"
>

type Change = Omit<typeof registryChanges.$inferInsert, "id" | "at"> & { readonly kind: (typeof changeKinds)[number] }

export type Verdict = Pick<SchemaDiff, "verdict" | "bump">

const nothing: Verdict = { verdict: "none", bump: "none" }
const gone: Verdict = { verdict: "breaking", bump: "major" }
const levels = ["private", "global", "public"] as const

/** Whether some reader of `one` can't read `other`. */
const showsMore = (one: Shown, other: Shown): boolean => {
  const [level, otherLevel] = [levels.indexOf(one.visibility), levels.indexOf(other.visibility)]
  const isPrivate = level === 0 && otherLevel === 0
  return level > otherLevel || (isPrivate && one.viewers.some((account) => !other.viewers.includes(account)))
}

const withdrawnFrom = ({ visibility, viewers }: Shown) => ({ kind: "withdrawn", visibility, viewers, ...gone }) as const

const noteOf = ({ deprecated }: Shown) => {
  const { message = null, successor = null } =
    deprecated === null ? {} : (JSON.parse(deprecated) as { message?: string; successor?: string })
  return { message, successor }
}

/**
 * The changes that readers notice when a stack becomes `after`, in order. Undefined: it isn't published.
 * @param served the version that readers had
 * @param verdict of `after` compared with that version
 */
const changesBetween = (
  before: Shown | undefined,
  after: Shown | undefined,
  served: number | undefined,
  verdict: Verdict = nothing,
): readonly Change[] => {
  const changes: Change[] = []
  const add = (of: Shown, change: Pick<Change, "kind"> & Partial<Change>, except?: Shown) =>
    changes.push({
      stack: of.name,
      line: of.line,
      version: (after ?? of).version,
      exceptVisibility: except?.visibility ?? null,
      exceptViewers: except?.viewers ?? [],
      ...nothing,
      ...change,
    })
  if (after === undefined) {
    if (before !== undefined) add(before, withdrawnFrom(before))
    return changes
  }
  const isNew = before?.version !== after.version
  if (isNew && after.version === served) add(after, { kind: "restored" })
  else if (isNew) {
    const previousVersion = served ?? null
    const kind = served !== undefined && after.version < served ? "rolled-back" : "published"
    add(after, { kind, previousVersion, message: after.message, ...(served === undefined ? nothing : verdict) })
  }
  if (before !== undefined && !isNew && showsMore(after, before)) add(after, { kind: "published" }, before)
  if (before !== undefined && showsMore(before, after)) add(before, withdrawnFrom(before), after)
  const [note, noteBefore] = [noteOf(after), before === undefined ? { message: null, successor: null } : noteOf(before)]
  if (note.message !== noteBefore.message || note.successor !== noteBefore.successor)
    add(after, after.deprecated === null ? { kind: "undeprecated" } : { kind: "deprecated", ...note })
  return changes
}

/**
 * Numbers a publication by its time, so that a database restored from a backup gives out no number again. The lock on the one row
 * makes publications wait for each other until they commit.
 */
export const raiseRevision = async (tx: Orm): Promise<number> => {
  const now = sql`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
  const revision = sql`greatest(${registryState.revision} + 1, ${now})`
  return theRow(await tx.update(registryState).set({ revision }).returning()).revision
}

/** The accounts that can read a stack while it is private: its owner and those the spec is shared with. */
export const viewersOf = async (tx: Orm, ownerId: number | null, specId: number | null): Promise<number[]> => {
  if (ownerId === null || specId === null) return []
  const shares = await tx.select({ userId: specShares.userId }).from(specShares).where(eq(specShares.recordId, specId))
  return [ownerId, ...shares.map(({ userId }) => userId)].toSorted((a, b) => a - b)
}

/** The version that readers of a stack had when it was last changed, if that is still known. */
export const lastServed = async (
  tx: Orm,
  { line, name }: Pick<Shown, "line" | "name">,
): Promise<number | undefined> => {
  const [change] = await tx
    .select({ version: registryChanges.version })
    .from(registryChanges)
    .where(and(eq(registryChanges.line, line), eq(registryChanges.stack, name)))
    .orderBy(desc(registryChanges.id))
    .limit(1)
  return change?.version
}

/**
 * Writes the changes between two states of a stack. The revision, which the caller has raised, is the first one's id.
 * Each further one raises it again. Nobody else can until the commit, so ids become visible in ascending order.
 */
export const recordChanges = async (
  tx: Orm,
  revision: number,
  before: Shown | undefined,
  after: Shown | undefined,
  verdict?: Verdict,
): Promise<void> => {
  const served = before?.version ?? (after && (await lastServed(tx, after)))
  if (after !== undefined) {
    // Who sees a past change is decided by who sees the stack today. Those from whom it was taken have to learn of it.
    const { line, visibility, viewers } = after
    const set = { visibility, viewers }
    const row = tx.insert(lineReaders).values({ line, ...set })
    await row.onConflictDoUpdate({ target: lineReaders.line, set })
  }
  let id: number | undefined = revision
  for (const change of changesBetween(before, after, served, verdict)) {
    id ??= await raiseRevision(tx)
    await tx.insert(registryChanges).values({ ...change, id, at: sql`clock_timestamp()` })
    id = undefined
  }
  await tx.execute(sql`select pg_notify(${registryChannel}, '')`)
}
