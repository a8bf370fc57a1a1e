import { inOwnWords } from "@svc/openapi"
import { DocumentFault, type DocumentPath, formatPath, maxFaults } from "./document-fault.ts"
import { type Ast, type AstEntity, astShape, fieldPath } from "./ast-shape.ts"
import { checkFields } from "../schema/derived-size.ts"
import { checkJsonValue } from "./json-value.ts"
import { unknownOperators } from "./operators.ts"

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
