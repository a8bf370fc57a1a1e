import { type Ast, type AstEntity, fieldPath, type ViewOutput } from "../ast/ast-shape.ts"
import { deriveTypes, type SchemaType, type ShapeType, type Spend } from "./derive-types.ts"
import { compactType, optionContent } from "../ast/rust-type.ts"

export type SchemaField = {
  readonly path: string
  readonly rust_type: string
  readonly nullable: boolean
  readonly section: string
}

export type SchemaView = {
  readonly id: string
  readonly mode: "state" | "list"
  readonly pipeline: readonly unknown[]
}

export type SchemaEntity = {
  readonly name: string
  readonly primary_keys: readonly string[]
  readonly fields: readonly SchemaField[]
  readonly views: readonly SchemaView[]
}

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
export const schemaOf = (shape: Shape): Schema => {
  return {
    ...shape,
    types: shape.types.map((type) =>
      type.kind === "struct"
        ? type
        : { name: type.name, kind: type.kind, variants: type.variants.map(({ name }) => name) },
    ),
  }
}

/** @param spend is told the number of steps */
export const deriveShape = (ast: Ast, spend?: Spend): Shape => ({
  stack_name: ast.stack_name,
  entities: ast.entities.map(deriveEntity),
  types: deriveTypes(ast, spend),
})

const deriveEntity = (entity: AstEntity): SchemaEntity => {
  const name = entity.state_name
  return {
    name,
    primary_keys: [...new Set(entity.identity.primary_keys)],
    fields: entity.sections.flatMap((section) =>
      section.fields
        .filter(({ emit }) => emit !== false)
        .map((field) => {
          const compact = compactType(field.rust_type_name)
          const content = optionContent(compact)
          return {
            path: fieldPath(section.name, field.field_name),
            rust_type: content ?? compact,
            nullable: content !== undefined,
            section: section.name,
          }
        }),
    ),
    views: [
      { id: `${name}/state`, mode: "state", pipeline: [] },
      { id: `${name}/list`, mode: "list", pipeline: [] },
      ...(entity.views ?? []).map(({ id, output, pipeline }) => ({
        id,
        mode: viewMode(output),
        pipeline: pipeline ?? [],
      })),
    ],
  }
}

const viewMode = (output: ViewOutput = "Collection"): "state" | "list" => {
  const variant = typeof output === "string" ? output : Object.keys(output)[0]
  return variant === "Collection" ? "list" : "state"
}
