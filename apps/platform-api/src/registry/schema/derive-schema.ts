import { type Ast, type AstEntity, fieldPath, type ViewOutput } from "../ast/ast-shape.ts"
import { deriveTypes, type SchemaType, type ShapeType, type Spend } from "./derive-types.ts"
import { compactType, optionContent } from "../ast/rust-type.ts"

export type SchemaEntity = ReturnType<typeof deriveEntity>
export type SchemaField = SchemaEntity["fields"][number]
export type SchemaView = SchemaEntity["views"][number]

export type Schema = {
  readonly stack_name: string
  readonly entities: readonly SchemaEntity[]
  readonly types: readonly SchemaType[]
}

/** A schema with the payloads of enum variants. Diffs and typed modules need those. */
export type Shape = Omit<Schema, "types"> & { readonly types: readonly ShapeType[] }

/** What a consumer of the stack needs: its entities with their emitted fields and views, and the types they use. */
export const deriveSchema = (ast: Ast): Schema => schemaOf(deriveShape(ast))

/** A shape without its payloads. */
export const schemaOf = (shape: Shape): Schema => ({
  ...shape,
  types: shape.types.map((type) =>
    type.kind === "struct" ? type : { ...type, variants: type.variants.map(({ name }) => name) },
  ),
})

/** @param spend is told the number of steps */
export const deriveShape = (ast: Ast, spend?: Spend): Shape => ({
  stack_name: ast.stack_name,
  entities: ast.entities.map(deriveEntity),
  types: deriveTypes(ast, spend),
})

const deriveEntity = ({ state_name: name, identity, sections, views = [] }: AstEntity) => ({
  name,
  primary_keys: [...new Set(identity.primary_keys)],
  fields: sections.flatMap(({ name: section, fields }) =>
    fields
      .filter(({ emit }) => emit !== false)
      .map(({ field_name, rust_type_name }) => {
        const compact = compactType(rust_type_name)
        const content = optionContent(compact)
        const path = fieldPath(section, field_name)
        return { path, rust_type: content ?? compact, nullable: content !== undefined, section }
      }),
  ),
  views: [
    ...(["state", "list"] as const).map((mode) => ({ id: `${name}/${mode}`, mode, pipeline: [] })),
    ...views.map(({ id, output, pipeline = [] }) => ({ id, mode: viewMode(output), pipeline })),
  ],
})

const viewMode = (output: ViewOutput = "Collection"): "state" | "list" => {
  const variant = typeof output === "string" ? output : Object.keys(output)[0]
  return variant === "Collection" ? "list" : "state"
}
