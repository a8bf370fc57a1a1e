import { DocumentFault, type DocumentPath } from "./document-fault.ts"

// Real ASTs are about 35 levels deep; everything behind this check may recurse.
const maxDepth = 128

/**
 * Throws a DocumentFault unless the value is JSON that every reader understands alike (I-JSON, RFC 7493): no number that a
 * double can't hold, no lone surrogate; and no U+0000, which PostgreSQL stores in no text. A cycle is "too deep".
 */
export const checkJsonValue = (value: unknown, at: DocumentPath = []): void => {
  if (value === null || typeof value === "boolean") return
  if (typeof value === "string") return checkText(value, at)
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new DocumentFault(at, "is a number too large for JSON readers")
    return
  }
  if (typeof value === "bigint") {
    throw new DocumentFault(at, "is an integer that JSON readers would round: write it as a string")
  }
  if (typeof value !== "object") throw new DocumentFault(at, "is not JSON")
  if (at.length >= maxDepth) throw new DocumentFault(at, `is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkJsonValue(item, [...at, index])
    return
  }
  for (const [key, member] of Object.entries(value)) {
    checkText(key, at)
    checkJsonValue(member, [...at, key])
  }
}

const checkText = (text: string, at: DocumentPath): void => {
  if (!text.isWellFormed()) throw new DocumentFault(at, "has a lone surrogate")
  if (text.includes("\0")) throw new DocumentFault(at, "has the character U+0000")
}
