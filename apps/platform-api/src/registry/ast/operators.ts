// Finds operators that no stream server knows, where an AST has conditions and expressions.
import { type Group, operatorNamed, operators } from "@svc/common/ast-operators"
import { isObject } from "@svc/common/json-object"
import type { AstEntity } from "./ast-shape.ts"
import { DocumentFault, type DocumentPath } from "./document-fault.ts"

const roots = new Set(["condition", "conditions", "expression", "predicate"])
// Constants may be any JSON.
const constants = new Set(["Literal", "Constant", "default"])

/** The operators of a variant, such as `{"Unary": {"op": …}}`. Anything else is a comparison. */
const groupsOf: Readonly<Record<string, readonly Group[]>> = {
  Binary: ["comparison", "logical", "arithmetic", "bitwise"],
  Unary: ["unary"],
  Logical: ["logical"],
}

/** @param variant the name of the member that holds the value; undefined outside of conditions and expressions */
function* unknownIn(value: unknown, at: DocumentPath, variant: string | undefined): Generator<DocumentFault> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* unknownIn(item, [...at, index], variant)
    return
  }
  if (!isObject(value)) return
  const operatorName = ["op", "operator"].find((name) => variant !== undefined && Object.hasOwn(value, name))
  for (const [name, member] of Object.entries(value)) {
    if (name === operatorName) {
      const groups = groupsOf[variant ?? ""] ?? ["comparison"]
      if (operatorNamed(member, ...groups) !== undefined) continue
      const known = groups.flatMap((group) => Object.keys(operators[group])).join(", ")
      yield new DocumentFault([...at, name], `must be an operator: ${known}`)
    } else if (variant === undefined) {
      yield* unknownIn(member, [...at, name], roots.has(name) ? name : undefined)
    } else if (!constants.has(name) && (name !== "value" || operatorName === undefined)) {
      yield* unknownIn(member, [...at, name], name)
    }
  }
}

/** The operators of an entity that are in no vocabulary. */
export function* unknownOperators(entity: AstEntity, at: DocumentPath): Generator<DocumentFault> {
  for (const part of ["handlers", "instruction_hooks", "resolver_specs", "computed_field_specs", "views"]) {
    yield* unknownIn(entity[part], [...at, part], undefined)
  }
}
