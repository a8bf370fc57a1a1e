import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { writeExactly } from "@svc/common/exact-json"
import { isObject } from "@svc/common/json-object"
import { hasMoreValues } from "@svc/common/json-text"
import type { Ast } from "../registry/ast/ast-shape.ts"
import { checkDerived, type Language, typedModule } from "../registry/types/typed-module.ts"
import { astFaults, contentHash, maxValues, parseExactJson } from "../registry/ast/parse-ast.ts"
import { AstTooLarge, DocumentFault } from "../registry/ast/document-fault.ts"
import { deriveShape, type Shape } from "../registry/schema/derive-schema.ts"
import { breakingText, diffSchemas } from "../registry/schema/diff.ts"
import { astIn, makeStackBytes, type StackHead, type StoredAst } from "../registry/stack-bytes.ts"

// Far more than any endpoint needs besides an AST. The validator reports every element that is wrong.
export const bodyValues = 1000
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

type Fault = { readonly path: string; readonly reason: string }

/** The columns of a version's row that come from its AST, with those of each entity. */
export type PreparedVersion = ReturnType<typeof prepareVersion>

/** The version made from an AST, or why there is none. */
export type ReadAst =
  | { readonly version: PreparedVersion }
  | { readonly faults: readonly Fault[] }
  | { readonly tooLarge: Fault }

/** A body that may hold an AST: the other fields as sent, and the result of reading the AST. */
export type Upload =
  | { readonly invalidJson: string }
  | { readonly invalid: string }
  | {
      readonly rest: unknown
      readonly hash: string
      /** Undefined if none was sent. */
      readonly ast: ReadAst | undefined
    }

export const readUpload = (bytes: Uint8Array): Upload => {
  let text: string
  try {
    text = bytes.length === 0 ? "{}" : utf8.decode(bytes)
  } catch {
    return { invalidJson: "the body is not UTF-8" }
  }
  if (hasMoreValues(text, maxValues)) return { invalid: tooMany(maxValues) }
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error
    return { invalidJson: error.reason.startsWith("isn't JSON") ? "the body is not JSON" : `the body ${error.reason}` }
  }
  const hash = createHash("sha256").update(text).digest("hex")
  if (!isObject(value)) return { rest: Array.isArray(value) ? [] : value, hash, ast: undefined }
  // Null stands for none, as for every optional member.
  if ((value["ast_payload"] ?? null) === null) {
    return hasMoreValues(text, bodyValues)
      ? { invalid: `${tooMany(bodyValues)} outside ast_payload` }
      : { rest: value, hash, ast: undefined }
  }
  // The other fields are checked later. The empty object tells that check that an AST was sent.
  const rest = { ...value, ast_payload: {} }
  if (hasMoreValues(writeExactly(rest), bodyValues)) return { invalid: `${tooMany(bodyValues)} outside ast_payload` }
  return { rest, hash, ast: readAst(value["ast_payload"]) }
}

const tooMany = (max: number): string => `must have at most ${max} members and elements`

const faultOf = ({ path, reason }: DocumentFault): Fault => ({ path, reason })

const readAst = (value: unknown): ReadAst => {
  try {
    const faults = astFaults(value)
    const tooLarge = faults.find((fault) => fault instanceof AstTooLarge)
    if (tooLarge !== undefined) throw tooLarge
    return faults.length > 0 ? { faults: faults.map(faultOf) } : { version: prepareVersion(value as Ast) }
  } catch (error) {
    if (error instanceof AstTooLarge) return { tooLarge: faultOf(error) }
    throw error
  }
}

/** Throws AstTooLarge. */
export const prepareVersion = (ast: Ast) => ({
  contentHash: contentHash(ast),
  schema: JSON.stringify(checkDerived(ast).schema),
  astGzip: Uint8Array.from(gzipSync(JSON.stringify(ast))),
  entities: ast.entities.map(({ state_name, program_id, handlers, sections }) => ({
    stateName: state_name,
    programId: program_id ?? null,
    handlerCount: handlers?.length ?? 0,
    sectionCount: sections.length,
  })),
})

// Work on ASTs. It takes long for large ones, so it runs on its own thread (thread.ts).

const shapeOf = (ast: StoredAst): Shape => deriveShape(astIn(ast))

export const tasks = {
  readUpload,
  /** Whether a version's AST is unchanged, and everything can still be derived from it. New rules don't concern it. */
  check: ({ ast, hash }: { readonly ast: StoredAst; readonly hash: string }): { readonly isSame: boolean } => {
    const stored = astIn(ast)
    const isSame = contentHash(stored) === hash
    if (isSame) checkDerived(stored)
    return { isSame }
  },
  /** Everything that replicas serve of a version. */
  stack: ({ head, ast, at }: { readonly head: StackHead; readonly ast: StoredAst; readonly at: Date }) =>
    makeStackBytes(head, astIn(ast), at),
  /** How two versions differ. `json` is an object without `from` and `to`. */
  diff: ({ before, after }: { readonly before: StoredAst; readonly after: StoredAst }) => {
    const diff = diffSchemas(shapeOf(before), shapeOf(after))
    return {
      verdict: diff.verdict,
      bump: diff.bump,
      changes: diff.changes.length,
      breaking: breakingText(diff.changes),
      json: JSON.stringify(diff),
    }
  },
  /** A compressed module of types. */
  module: (wanted: {
    readonly ast: StoredAst
    readonly language: Language
    readonly name: string
    readonly version: number
  }): Uint8Array<ArrayBuffer> => {
    const { ast, language, ...stack } = wanted
    return Uint8Array.from(gzipSync(typedModule(shapeOf(ast), language, stack)))
  },
} as const

type Tasks = typeof tasks
export type TaskName = keyof Tasks
export type InputOf<K extends TaskName> = Parameters<Tasks[K]>[0]
export type OutputOf<K extends TaskName> = ReturnType<Tasks[K]>
export type MadeDiff = OutputOf<"diff">

/** A difference as JSON; undefined means that nothing changed. */
export const diffText = (
  versions: { readonly from: number; readonly to: number },
  { json }: Pick<MadeDiff, "json"> = { json: `{"verdict":"none","bump":"none","changes":[]}` },
): string => `${JSON.stringify(versions).slice(0, -1)},${json.slice(1)}`
