import { createHash } from "node:crypto"
import canonicalize from "canonicalize"
import type { Ast } from "./ast-shape.ts"

/**
 * SHA-256, in hex, of the AST's canonical JSON (RFC 8785), its own `content_hash` included. That form treats numbers as
 * doubles, so ASTs with larger integers could share a hash. parseAst rejects those.
 */
export const contentHash = (ast: Ast): string => {
  return createHash("sha256")
    .update(canonicalize(ast) ?? "")
    .digest("hex")
}
