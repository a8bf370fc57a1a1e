import { readFileSync } from "node:fs"
import { sampleStacks } from "../../stacks/index.ts"

/** The text of a sample stack's AST. */
export function sampleText(name: string): string {
  const sample = sampleStacks.find((candidate) => candidate.name === name)
  if (sample === undefined) throw new Error(`no sample stack ${name}`)
  return readFileSync(sample.file, "utf8")
}

/** A field as the stack compiler writes it, of the given Rust type. */
export const field = (field_name: string, rust_type_name: string, rest: object = {}) => ({
  field_name,
  rust_type_name,
  base_type: "Object",
  is_optional: false,
  is_array: false,
  inner_type: null,
  ...rest,
})

/** A valid entity with one field, but for what is given. */
export const entity = (state_name: string, rest: object = {}) => ({
  state_name,
  program_id: null,
  identity: { primary_keys: ["id.address"] },
  sections: [{ name: "id", fields: [field("address", "String")] }],
  views: [],
  ...rest,
})

/** A valid AST with one entity, but for what is given. */
export const smallAst = (rest: object = {}) => ({
  ast_version: "0.0.1",
  stack_name: "SmallStream",
  program_ids: [],
  idls: [],
  entities: [entity("Thing")],
  ...rest,
})

/** A valid AST with one entity, `Thing`, that is as given. */
export const thing = (rest: object) => smallAst({ entities: [entity("Thing", rest)] })

/** A valid AST whose one entity, `Thing`, has these fields in one section, and no others. */
export const withFields = (fields: readonly object[], section = "id") =>
  thing({ sections: [{ name: section, fields }] })

/** A stack whose one entity has a root field of the given Rust type, over one IDL with the given types. */
export const typedAst = (rust: string, types: object[]) =>
  smallAst({
    idls: [{ name: "p", program_id: "P", types }],
    entities: [entity("Thing", { program_id: "P", sections: [{ name: "root", fields: [field("it", rust)] }] })],
  })
