import { type Ast, type AstEntity, fieldPath, type ViewOutput } from "./ast-shape.ts"
import { deriveTypes, type SchemaType } from "./derive-types.ts"
import { compactType, optionContent } from "./rust-type.ts"

interface SchemaField {
  path: string
  rust_type: string
  nullable: boolean
  section: string
}

interface SchemaView {
  id: string
  mode: "state" | "list"
  pipeline: unknown[]
}

interface SchemaEntity {
  name: string
  primary_keys: string[]
  fields: SchemaField[]
  views: SchemaView[]
}

export interface Schema {
  stack_name: string
  entities: SchemaEntity[]
  types: SchemaType[]
}

/** What a consumer of the stack needs to know: its entities with their emitted fields and views, and the types they name. */
export function deriveSchema(ast: Ast): Schema {
  return {
    stack_name: ast.stack_name,
    entities: ast.entities.map(deriveEntity),
    types: deriveTypes(ast),
  }
}

function deriveEntity(entity: AstEntity): SchemaEntity {
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

function viewMode(output: ViewOutput = "Collection"): "state" | "list" {
  const variant = typeof output === "string" ? output : Object.keys(output)[0]
  return variant === "Collection" ? "list" : "state"
}
