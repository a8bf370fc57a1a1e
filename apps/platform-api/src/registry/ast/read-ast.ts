import { parseExactly } from "@svc/common/exact-json"
import { duplicateKey } from "@svc/common/json-text"
import { DocumentFault } from "./document-fault.ts"
import type { Ast } from "./ast-shape.ts"
import { parseAst } from "./parse-ast.ts"

/**
 * Takes an AST from its text, and refuses one that JSON.parse would change in silence: a member that stands twice, an
 * integer that a double can't give back. Throws a DocumentFault that names the first fault.
 */
export const readAst = (text: string): Ast => {
  return parseAst(parseExactJson(text))
}

/**
 * The value of a JSON text. An integer that a double would not give back as it was written arrives as a bigint, for
 * parseAst to refuse with its path. Throws a DocumentFault for a text that is no JSON, or names a member twice.
 */
export const parseExactJson = (text: string): unknown => {
  try {
    const value = parseExactly(text, (source, item) => (isRounded(source, item) ? BigInt(source) : item))
    const duplicate = duplicateKey(text)
    if (duplicate === undefined) return value
    throw new DocumentFault([], `has the member ${JSON.stringify(duplicate.slice(0, 64))} twice in one object`)
  } catch (error) {
    if (error instanceof SyntaxError) throw new DocumentFault([], `is not JSON (${error.message})`)
    // The reviver is called recursively, as deep as the text is nested.
    if (error instanceof RangeError) throw new DocumentFault([], "is nested too deeply")
    throw error
  }
}

const isRounded = (source: string, value: number) => /^-?\d+$/.test(source) && String(value) !== source
