import { inOwnWords } from "@svc/openapi"
import { parseExactly } from "@svc/common/exact-json"
import { duplicateKey } from "@svc/common/json-text"
import { hash } from "node:crypto"
import canonicalize from "canonicalize"
import { checkFields } from "../types/typed-module.ts"
import { DocumentFault, type DocumentPath, formatPath, maxFaults } from "./document-fault.ts"
import { type Ast, type AstEntity, astShape, fieldPath } from "./ast-shape.ts"
import { unknownOperators } from "./operators.ts"

// Real ASTs are about 35 levels deep. Code after this check may recurse.
const maxDepth = 128
/** The maximum number of members and elements of an AST. 2 MiB of a real AST has half as many. */
export const maxValues = 250_000

/**
 * Throws a DocumentFault unless every reader understands the JSON alike (I-JSON, RFC 7493): no number too large for a
 * double, no lone surrogate. U+0000 is rejected because PostgreSQL can't store it. A cycle is too deep.
 */
const checkJsonValue = (value: unknown): void => {
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

/**
 * Checks a stack's AST and returns the same value. Unknown members stay and nothing is added, so that the served and
 * hashed AST is the published one. Throws the first fault as a DocumentFault.
 */
export const parseAst = (value: unknown): Ast => {
  const [fault] = astFaults(value)
  if (fault !== undefined) throw fault
  return value as Ast
}

/** The first faults of an AST. Some faults hide others. */
export const astFaults = (value: unknown): readonly DocumentFault[] => {
  try {
    checkJsonValue(value)
    const { error } = astShape.safeParse(value, inOwnWords)
    if (error !== undefined) {
      const first = error.issues.slice(0, maxFaults)
      return first.map(({ path, message }) => new DocumentFault(path.filter(isSegment), message))
    }
    const ast = value as Ast
    checkFields(ast)
    const operators = ast.entities.values().flatMap((entity, e) => unknownOperators(entity, ["entities", e]))
    const searches = [takenTwice(named(ast)), tooLong(ast), operators].values()
    return searches
      .flatMap((faults) => faults)
      .take(maxFaults)
      .toArray()
  } catch (error) {
    if (error instanceof DocumentFault) return [error]
    throw error
  }
}

const isSegment = (segment: PropertyKey): segment is string | number => typeof segment !== "symbol"

type Name = {
  /** Names of different kinds don't conflict. */
  readonly kind: string
  readonly text: string
  readonly at: DocumentPath
  /** What takes the name, if it isn't the place itself. */
  readonly by?: string
}

function* fieldNames({ sections }: AstEntity, at: DocumentPath): Generator<{ text: string; at: DocumentPath }> {
  for (const [s, { name, fields }] of sections.entries()) {
    for (const [f, { field_name }] of fields.entries()) {
      yield { text: fieldPath(name, field_name), at: [...at, "sections", s, "fields", f, "field_name"] }
    }
  }
}

function* named(ast: Ast): Generator<Name> {
  for (const [e, entity] of ast.entities.entries()) {
    const at = ["entities", e]
    // Entities are looked up case-insensitively.
    yield { kind: "entity", text: entity.state_name.toLowerCase(), at: [...at, "state_name"] }
    for (const mode of ["state", "list"]) {
      const by = `the built-in ${mode} view of ${formatPath(at)}`
      yield { kind: "view", text: `${entity.state_name}/${mode}`, at: [...at, "state_name"], by }
    }
    for (const { text, at: place } of fieldNames(entity, at)) yield { kind: `field of ${e}`, text, at: place }
  }
  for (const [e, entity] of ast.entities.entries()) {
    for (const [v, view] of (entity.views ?? []).entries()) {
      yield { kind: "view", text: view.id, at: ["entities", e, "views", v, "id"] }
    }
  }
}

export const maxPathParts = 16

/** Each dot of a path is a nested object for readers. */
function* tooLong({ entities }: Ast): Generator<DocumentFault> {
  for (const [e, entity] of entities.entries()) {
    for (const { text, at } of fieldNames(entity, ["entities", e])) {
      if (text.split(".").length > maxPathParts)
        yield new DocumentFault(at, `makes a path of more than ${maxPathParts} parts`)
    }
  }
}

function* takenTwice(names: Iterable<Name>): Generator<DocumentFault> {
  const taken = new Map<string, Name>()
  for (const name of names) {
    const key = `${name.kind} ${name.text}`
    const holder = taken.get(key)
    if (holder === undefined) taken.set(key, name)
    else yield new DocumentFault(name.at, `is already used by ${holder.by ?? formatPath(holder.at)}`)
  }
}

/**
 * Parses an AST, and rejects text that JSON.parse would change silently: a repeated member, or an integer that a double
 * can't represent. Throws the first fault as a DocumentFault.
 */
export const readAst = (text: string): Ast => parseAst(parseExactJson(text))

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

/**
 * SHA-256, in hex, of the AST's canonical JSON (RFC 8785), its own `content_hash` included. That form treats numbers as
 * doubles, so ASTs with larger integers could share a hash. parseAst rejects those.
 */
export const contentHash = (ast: Ast): string => hash("sha256", canonicalize(ast) ?? "")
