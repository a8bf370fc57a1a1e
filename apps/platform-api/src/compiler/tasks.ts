// Work on ASTs. It takes long for large ones, so it runs on its own thread (thread.ts).
import { gzipSync } from "node:zlib"
import { checkDerived } from "../registry/schema/check-derived.ts"
import { contentHash } from "../registry/ast/content-hash.ts"
import { deriveShape, type Shape } from "../registry/schema/derive-schema.ts"
import { breakingText, diffSchemas } from "../registry/schema/diff.ts"
import { astIn, makeStackBytes, type StackHead, type StoredAst } from "../registry/stack-bytes.ts"
import { type Language, typedModule } from "../registry/types/typed-module.ts"
import { readUpload } from "./read-upload.ts"

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
