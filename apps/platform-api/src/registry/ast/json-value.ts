import { DocumentFault } from "./document-fault.ts"

// Real ASTs are about 35 levels deep. Code after this check may recurse.
const maxDepth = 128
/** The maximum number of members and elements of an AST. 2 MiB of a real AST has half as many. */
export const maxValues = 250_000

/**
 * Throws a DocumentFault unless every reader understands the JSON alike (I-JSON, RFC 7493): no number too large for a
 * double, no lone surrogate. U+0000 is rejected because PostgreSQL can't store it. A cycle is too deep.
 */
export const checkJsonValue = (value: unknown): void => {
  // One shared path, because a million elements would each copy it.
  const at: (string | number)[] = []
  let values = 0
  const fail = (reason: string): never => {
    throw new DocumentFault([...at], reason)
  }
  const checkText = (text: string): void => {
    if (!text.isWellFormed()) fail("has a lone surrogate")
    if (text.includes("\0")) fail("has the character U+0000")
  }
  const checkMember = (key: string | number, member: unknown): void => {
    at.push(key)
    check(member)
    at.pop()
  }
  const check = (item: unknown): void => {
    if (++values > maxValues) throw new DocumentFault([], `has more than ${maxValues} members and elements`)
    if (item === null || typeof item === "boolean") return
    if (typeof item === "string") return checkText(item)
    if (typeof item === "number") {
      if (!Number.isFinite(item)) fail("is a number too large for JSON readers")
      return
    }
    if (typeof item === "bigint") fail("is an integer that JSON readers would round: write it as a string")
    if (typeof item !== "object") return fail("isn't JSON")
    if (at.length >= maxDepth) fail(`is nested deeper than ${maxDepth} levels`)
    if (Array.isArray(item)) {
      for (const [index, element] of item.entries()) checkMember(index, element)
      return
    }
    for (const [key, member] of Object.entries(item)) {
      checkText(key)
      checkMember(key, member)
    }
  }
  check(value)
}
