import { inOwnWords } from "@svc/http"
import { DocumentFault, type DocumentPath, formatPath } from "./document-fault.ts"
import { type Ast, astShape, fieldPath } from "./ast-shape.ts"
import { checkJsonValue } from "./json-value.ts"

/**
 * Takes a stack's AST, the very value that was given: unknown members stay, nothing is filled in, so that what is served
 * and hashed is what was published. Throws a DocumentFault that names the first fault.
 */
export const parseAst = (value: unknown): Ast => {
  const [fault] = astFaults(value)
  if (fault !== undefined) throw fault
  return value as Ast
}

/** All that is wrong with an AST, as far as it can be told at once: what stands on a fault is looked at when that is mended. */
export const astFaults = (value: unknown): readonly DocumentFault[] => {
  try {
    checkJsonValue(value)
  } catch (error) {
    if (error instanceof DocumentFault) return [error]
    throw error
  }
  const result = astShape.safeParse(value, inOwnWords)
  return result.success
    ? [...takenTwice(named(value as Ast)), ...tooLong(value as Ast)]
    : result.error.issues.map(({ path, message }) => new DocumentFault(path.filter(isSegment), message))
}

const isSegment = (segment: PropertyKey): segment is string | number => typeof segment !== "symbol"

type Name = {
  /** Names of different kinds never meet. */
  readonly kind: string
  readonly text: string
  readonly at: DocumentPath
  /** Who takes the name, where that is not the place itself. */
  readonly by?: string
}

function* named(ast: Ast): Generator<Name> {
  for (const [e, entity] of ast.entities.entries()) {
    const at = ["entities", e]
    // Entities are looked up whatever the case.
    yield { kind: "entity", text: entity.state_name.toLowerCase(), at: [...at, "state_name"] }
    for (const mode of ["state", "list"]) {
      const by = `the ${mode} view that ${formatPath(at)} has anyway`
      yield { kind: "view", text: `${entity.state_name}/${mode}`, at: [...at, "state_name"], by }
    }
    for (const [s, section] of entity.sections.entries()) {
      for (const [f, { field_name }] of section.fields.entries()) {
        const text = fieldPath(section.name, field_name)
        yield { kind: `field of ${e}`, text, at: [...at, "sections", s, "fields", f, "field_name"] }
      }
    }
  }
  for (const [e, entity] of ast.entities.entries()) {
    for (const [v, view] of (entity.views ?? []).entries()) {
      yield { kind: "view", text: view.id, at: ["entities", e, "views", v, "id"] }
    }
  }
}

const mostParts = 16

/** Each dot of a path is an object inside another one, for whoever reads the field. */
const tooLong = ({ entities }: Ast): DocumentFault[] =>
  entities.flatMap(({ sections }, e) =>
    sections.flatMap(({ name, fields }, s) =>
      fields.flatMap(({ field_name }, f) => {
        if (fieldPath(name, field_name).split(".").length <= mostParts) return []
        const at = ["entities", e, "sections", s, "fields", f, "field_name"]
        return [new DocumentFault(at, `makes a path of more than ${mostParts} parts`)]
      }),
    ),
  )

const takenTwice = (names: Iterable<Name>): DocumentFault[] => {
  const taken = new Map<string, string>()
  const faults: DocumentFault[] = []
  for (const { kind, text, at, by } of names) {
    const key = `${kind} ${text}`
    const holder = taken.get(key)
    if (holder === undefined) taken.set(key, by ?? formatPath(at))
    else faults.push(new DocumentFault(at, `is taken already, by ${holder}`))
  }
  return faults
}
