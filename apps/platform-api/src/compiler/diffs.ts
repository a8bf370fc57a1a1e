import { sizeOf, type StoredAst } from "../registry/stack-bytes.ts"
import type { Compiler } from "./compiler.ts"
import type { MadeDiff } from "./tasks.ts"

/** The difference between two versions. Throws AstTooLarge and CompilerBusy. */
export const diffOf = (compiler: Compiler, before: StoredAst, after: StoredAst, owner: string): Promise<MadeDiff> =>
  compiler.run("diff", { before, after }, { size: sizeOf(before) + sizeOf(after), owner })

const equal: Pick<MadeDiff, "json"> = {
  json: Uint8Array.from(Buffer.from(JSON.stringify({ verdict: "none", bump: "none", changes: [] }))),
}

/** A difference as JSON; undefined means that nothing changed. */
export const diffText = (
  versions: { readonly from: number; readonly to: number },
  { json }: Pick<MadeDiff, "json"> = equal,
): string => `${JSON.stringify(versions).slice(0, -1)},${Buffer.from(json).toString().slice(1)}`
