import { readFileSync } from "node:fs"
import { isLoopback } from "@svc/common/loopback"
import { audit } from "../audit.ts"
import { and, asc, type Database, eq, inArray, isNull, or, type Orm, type Queries } from "../db/database.ts"
import { specs, stackNames, stacks, stackVersions } from "../db/schema/index.ts"
import { reservedName, stackNamePattern } from "../records/stack-names.ts"
import type { Ast } from "../registry/ast/ast-shape.ts"
import { checkDerived } from "../registry/types/typed-module.ts"
import { deriveShape } from "../registry/schema/derive-schema.ts"
import { breakingText, diffSchemas } from "../registry/schema/diff.ts"
import * as publication from "../registry/publication.ts"
import { raiseRevision } from "../registry/stack-changes.ts"
import { astIn, makeStackBytes, type StackHead } from "../registry/stack-bytes.ts"
import { normaliseWebsocketUrl, spellingsOf } from "../registry/websocket-url.ts"
import { lockBuildsOf, wakeParked } from "../work/queue/jobs.ts"
import { sampleStacks } from "../../stacks/index.ts"
import { readAst } from "../registry/ast/parse-ast.ts"
import { CommandError } from "./command-error.ts"

export type Publication = StackHead & {
  readonly relay: boolean
  readonly browserSend: boolean
  readonly allowBreaking?: boolean
  readonly ast: Ast
}

const checkName = (text: string): string => {
  const name = text.toLowerCase()
  if (stackNamePattern.test(name) && name !== reservedName) return name
  throw new CommandError(
    "invalid-name",
    "a stack's name must have 1 to 63 letters, digits and dashes and not start with a dash; `changes` is reserved",
  )
}

const checkUrl = (text: string): string => {
  const url = normaliseWebsocketUrl(text)
  if (url !== undefined) return url
  throw new CommandError("invalid-websocket-url", "the websocket URL must start with ws:// or wss://")
}

/**
 * Publishes a stack, or its next version if the name exists. The same content again changes nothing. Every replica
 * serves it within two seconds. Throws CommandError and AstTooLarge.
 */
export const publish = async (queries: Queries, { ast, allowBreaking = false, ...given }: Publication, at: Date) => {
  const stack = { ...given, name: checkName(given.name), websocketUrl: checkUrl(given.websocketUrl) }
  const { shape } = checkDerived(ast)
  const bytes = makeStackBytes(stack, ast, at)
  const summary = (status: "published" | "unchanged", version: number) => ({
    name: stack.name,
    status,
    version,
    content_hash: bytes.contentHash,
    websocket_url: stack.websocketUrl,
    visibility: stack.visibility,
    entities: shape.entities.map((entity) => entity.name),
  })
  try {
    return await queries.transaction(async (tx) => {
      const revision = await raiseRevision(tx)
      const [old] = await tx.select().from(stacks).where(eq(stacks.name, stack.name))
      if (old !== undefined && old.ownerId !== null) throw new publication.StackConflict("stack-name-taken")
      const wanted = { ...stack, contentHash: bytes.contentHash }
      const members = Object.keys(wanted) as (keyof typeof wanted)[]
      if (old !== undefined && members.every((name) => old[name] === wanted[name]))
        return summary("unchanged", old.version)
      const line = publication.lineOf(stack.name, undefined)
      const latest = await publication.latestVersion(tx, line)
      // A version number keeps its meaning, so numbers aren't reused after a stack is unpublished.
      const version = (latest?.number ?? 0) + 1
      const diff = latest && diffSchemas(deriveShape(astIn({ gzip: latest.astGzip, isAnswer: true })), shape)
      if (diff?.verdict === "breaking" && !allowBreaking) {
        throw new CommandError(
          "breaking-change",
          `this version breaks its readers (${breakingText(diff.changes)}); publish it anyway with --allow-breaking`,
        )
      }
      const kept = { deprecated: old?.deprecated ?? null, message: null }
      await publication.putStack(tx, { ...stack, ...kept, version }, bytes, {
        revision,
        holder: undefined,
        diff: diff && { ...diff, changes: diff.changes.length },
        at,
      })
      await audit(tx, { at, actor: "operator", action: "stack.publish", target: `stack:${stack.name}` })
      return summary("published", version)
    })
  } catch (error) {
    if (!(error instanceof publication.StackConflict)) throw error
    throw new CommandError(error.code, error.message)
  }
}

export const listStacks = (queries: Queries) =>
  queries.run((db) =>
    db
      .select({
        name: stacks.name,
        description: stacks.description,
        websocket_url: stacks.websocketUrl,
        visibility: stacks.visibility,
        relay: stacks.relay,
        browser_send: stacks.browserSend,
        version: stacks.version,
        content_hash: stacks.contentHash,
        updated_at: stacks.updatedAt,
      })
      .from(stacks)
      .orderBy(asc(stacks.name)),
  )

const notFound = (): CommandError =>
  new CommandError("stack-not-found", "the stack wasn't found: `stack list` shows every name")

/** Changes a stack, which `work` returns, in a transaction that raises the revision and is in the audit log. */
const change = <Answer extends { readonly name: string }>(
  queries: Queries,
  verb: "unpublish" | "deprecate" | "approve",
  at: Date,
  work: (tx: Orm, revision: number) => Promise<Answer>,
  lockJobs?: (tx: Orm) => Promise<unknown>,
): Promise<Answer> =>
  queries.transaction(async (tx) => {
    await lockJobs?.(tx)
    const answer = await work(tx, await raiseRevision(tx))
    await audit(tx, { at, actor: "operator", action: `stack.${verb}`, target: `stack:${answer.name}` })
    return answer
  })

const ofOperator = (name: string) => and(eq(stacks.name, name.toLowerCase()), isNull(stacks.ownerId))

/** Removes one of the operator's stacks from the registry. Throws CommandError. */
export const unpublish = (queries: Queries, given: string, at: Date) =>
  change(queries, "unpublish", at, async (tx, revision) => {
    const name = await publication.removeStack(tx, ofOperator(given), revision)
    if (name === undefined) throw notFound()
    await publication.freeNames(tx, publication.lineOf(name, undefined), at)
    return { name, unpublished: true }
  })

/** Deprecates one of the operator's stacks; undefined ends the deprecation. Throws CommandError. */
export const deprecate = (queries: Queries, given: string, note: publication.Deprecation | undefined, at: Date) =>
  change(queries, "deprecate", at, async (tx, revision) => {
    const [stack] = await tx.select().from(stacks).where(ofOperator(given))
    if (stack === undefined) throw notFound()
    const deprecated = note === undefined ? null : publication.deprecation(note, stack.deprecated, at)
    await publication.updateStack(tx, stack, { deprecated }, revision)
    return { name: stack.name, deprecated: deprecated === null ? null : (JSON.parse(deprecated) as unknown) }
  })

/** Gives a person's stack the visibility of its spec, now that it is approved. */
const showAsWanted = async (tx: Orm, line: string, revision: number): Promise<void> => {
  const [stack] = await tx.select().from(stacks).where(eq(stacks.line, line))
  if (stack === undefined || stack.specId === null) return
  const [spec] = await tx.select({ visibility: specs.visibility }).from(specs).where(eq(specs.id, stack.specId))
  if (spec === undefined || spec.visibility === stack.visibility) return
  await publication.updateStack(tx, stack, { visibility: spec.visibility }, revision)
}

/** Approves a person's stack to be public, in every later version too. Throws CommandError. */
export const approve = (queries: Queries, given: string, at: Date) => {
  const name = given.toLowerCase()
  const work = async (tx: Orm, revision: number) => {
    const known = eq(stackNames.name, name)
    const [held] = await tx.update(stackNames).set({ approved: true }).where(known).returning()
    if (held === undefined || held.ownerId === null || held.freedAt !== null) throw notFound()
    // Builds that wait for the approval continue. Each checks it again.
    await wakeParked(tx, { ownerId: held.ownerId })
    await showAsWanted(tx, held.line, revision)
    return { name, approved: true }
  }
  return change(queries, "approve", at, work, (tx) => lockBuildsOf(tx, name))
}

const seedMs = 60_000

const isTaken = async (queries: Queries, url: string, name: string): Promise<boolean> => {
  const taken = or(eq(stacks.name, name), inArray(stacks.websocketUrl, [...spellingsOf(url)]))
  const [stack] = await queries.run((db) => db.select({ name: stacks.name }).from(stacks).where(taken))
  return stack !== undefined
}

/** The sample stacks in the registry: their URLs by their names. */
export const publishedSamples = async (database: Database): Promise<ReadonlyMap<string, string>> => {
  const samples = sampleStacks.map(({ name, description }) =>
    and(eq(stacks.name, name), eq(stacks.description, description)),
  )
  const rows = await database.within(seedMs).run((db) =>
    db
      .select({ name: stacks.name, websocketUrl: stacks.websocketUrl })
      .from(stacks)
      .where(and(isNull(stacks.ownerId), or(...samples)))
      .orderBy(asc(stacks.name)),
  )
  return new Map(rows.map(({ name, websocketUrl }) => [name, websocketUrl]))
}

/**
 * Publishes the sample stacks into an empty registry. A second call only gives them the URL of a local stream that has moved to
 * another port.
 * @param streamUrl where the samples are streamed, such as `ws://127.0.0.1:4004`, without a trailing slash
 */
export const seed = async (database: Database, streamUrl: string, at: Date): Promise<void> => {
  const queries = database.within(seedMs)
  // Each publication adds a version, which stays. Fewer mean that the first start was interrupted.
  const { number } = stackVersions
  const published = await queries.run((db) => db.select({ number }).from(stackVersions).limit(sampleStacks.length))
  const isDone = published.length === sampleStacks.length
  const known = await publishedSamples(database)
  for (const { file, ...sample } of sampleStacks) {
    const { name } = sample
    const websocketUrl = `${streamUrl}/${name}`
    const old = known.get(name) ?? websocketUrl
    const hasMoved = old !== websocketUrl && isLoopback(new URL(old).hostname)
    // What the operator has published stays as it is.
    if (!hasMoved && (isDone || (await isTaken(queries, websocketUrl, name)))) continue
    const ast = readAst(readFileSync(file, "utf8"))
    const terms = { visibility: "public", browserSend: false, allowBreaking: true } as const
    await publish(queries, { ...sample, ...terms, ast, websocketUrl }, at)
  }
}
