import { inOwnWords } from "@svc/http"
import { DocumentFault, type DocumentPath, formatPath, mostFaults } from "./document-fault.ts"
import { type Ast, astShape, fieldPath } from "./ast-shape.ts"
import { fieldsFault } from "../schema/derived-size.ts"
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

/** What is wrong with an AST, the first of it and as far as it can be told at once: some faults hide others. */
export const astFaults = (value: unknown): readonly DocumentFault[] => {
  try {
    checkJsonValue(value)
  } catch (error) {
    if (error instanceof DocumentFault) return [error]
    throw error
  }
  const result = astShape.safeParse(value, inOwnWords)
  if (!result.success) {
    const { issues } = result.error
    return issues.slice(0, mostFaults).map(({ path, message }) => new DocumentFault(path.filter(isSegment), message))
  }
  const ast = value as Ast
  const tooLarge = fieldsFault(ast)
  if (tooLarge !== undefined) return [tooLarge]
  return first(takenTwice(named(ast)), tooLong(ast))
}

const isSegment = (segment: PropertyKey): segment is string | number => typeof segment !== "symbol"

/** The first faults of what is looked for in turn: no more of it is looked at than is told. */
const first = (...found: readonly Iterable<DocumentFault>[]): readonly DocumentFault[] => {
  const faults: DocumentFault[] = []
  for (const some of found) {
    for (const fault of some) {
      if (faults.push(fault) >= mostFaults) return faults
    }
  }
  return faults
}

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
function* tooLong({ entities }: Ast): Generator<DocumentFault> {
  for (const [e, { sections }] of entities.entries()) {
    for (const [s, { name, fields }] of sections.entries()) {
      for (const [f, { field_name }] of fields.entries()) {
        if (fieldPath(name, field_name).split(".").length <= mostParts) continue
        const at = ["entities", e, "sections", s, "fields", f, "field_name"]
        yield new DocumentFault(at, `makes a path of more than ${mostParts} parts`)
      }
    }
  }
}

function* takenTwice(names: Iterable<Name>): Generator<DocumentFault> {
  const taken = new Map<string, Name>()
  for (const name of names) {
    const key = `${name.kind} ${name.text}`
    const holder = taken.get(key)
    if (holder === undefined) taken.set(key, name)
    else yield new DocumentFault(name.at, `is taken already, by ${holder.by ?? formatPath(holder.at)}`)
  }
}
