import type { Compiler } from "../../compiler/compiler.ts"
import type { Config } from "../../config.ts"
import type { Hook } from "./hook.ts"

/** What background work needs. */
export type WorkContext = {
  readonly now: () => Date
  readonly config: Pick<Config, "streamUrlTemplate" | "publicStacks">
  readonly hook: Hook | undefined
  readonly compiler: Compiler
  /** A link to a version's AST that needs no key and is valid for an hour. */
  readonly astUrl: (versionId: number, at: Date) => string
}
