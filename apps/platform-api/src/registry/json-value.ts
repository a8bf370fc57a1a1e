import { AstError, type AstPath } from "./ast-error.ts"

// Real ASTs are about 35 levels deep; everything behind this check may recurse.
const maxDepth = 128

/**
 * Throws an AstError unless the value is JSON that every reader understands alike (I-JSON, RFC 7493): no number that a
 * double can't hold, no lone surrogate; and no U+0000, which PostgreSQL stores in no text. A cycle is "too deep".
 */
export function checkJsonValue(value: unknown, at: AstPath = []): void {
  if (value === null || typeof value === "boolean") return
  if (typeof value === "string") return checkText(value, at)
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new AstError(at, "is a number too large for JSON readers")
    return
  }
  if (typeof value === "bigint") {
    throw new AstError(at, "is an integer that JSON readers would round: write it as a string")
  }
  if (typeof value !== "object") throw new AstError(at, "is not JSON")
  if (at.length >= maxDepth) throw new AstError(at, `is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkJsonValue(item, [...at, index])
    return
  }
  for (const [key, member] of Object.entries(value)) {
    checkText(key, at)
    checkJsonValue(member, [...at, key])
  }
}

function checkText(text: string, at: AstPath): void {
  if (!text.isWellFormed()) throw new AstError(at, "has a lone surrogate")
  if (text.includes("\0")) throw new AstError(at, "has the character U+0000")
}
