import { parseExactly } from "@svc/common/exact-json"
import { duplicateKey } from "@svc/common/json-text"
import { DocumentFault } from "./document-fault.ts"
import type { Ast } from "./ast-shape.ts"
import { parseAst } from "./parse-ast.ts"

/**
 * Parses an AST, and rejects text that JSON.parse would change silently: a repeated member, or an integer that a double
 * can't represent. Throws the first fault as a DocumentFault.
 */
export const readAst = (text: string): Ast => {
  return parseAst(parseExactJson(text))
}

/**
 * Parses JSON. An integer that a double can't represent becomes a bigint, which parseAst rejects with its path. Throws
 * a DocumentFault if the text isn't JSON or repeats a member.
 */
export const parseExactJson = (text: string): unknown => {
  try {
    const value = hasLongNumber.test(text)
      ? parseExactly(text, (source, item) => (isRounded(source, item) ? BigInt(source) : item))
      : (JSON.parse(text) as unknown)
    const duplicate = duplicateKey(text)
    if (duplicate === undefined) return value
    throw new DocumentFault([], `has the member ${JSON.stringify(duplicate.slice(0, 64))} twice in one object`)
  } catch (error) {
    if (error instanceof SyntaxError) throw new DocumentFault([], `isn't JSON (${error.message})`)
    // The reviver recurses as deep as the text is nested.
    if (error instanceof RangeError) throw new DocumentFault([], "is nested too deeply")
    throw error
  }
}

// No shorter integer is rounded. Without one, the text is parsed ten times as fast.
const hasLongNumber = /\d{16}/
const isRounded = (source: string, value: number) => /^-?\d+$/.test(source) && String(value) !== source
