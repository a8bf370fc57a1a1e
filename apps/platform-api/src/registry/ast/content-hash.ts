import { createHash } from "node:crypto"
import canonicalize from "canonicalize"
import type { Ast } from "./ast-shape.ts"

/**
 * SHA-256, in hex, of the AST's canonical JSON (RFC 8785), its own `content_hash` included as it stands. That form knows
 * numbers as doubles: two ASTs that differ beyond a double's reach would share a hash, which is why parseAst takes none.
 */
export const contentHash = (ast: Ast): string => {
  return createHash("sha256")
    .update(canonicalize(ast) ?? "")
    .digest("hex")
}
