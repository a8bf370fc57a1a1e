// The parts of an AST that the registry reads. All else is kept as published.
import { z } from "zod"
import { DocumentFault } from "./document-fault.ts"
import { fieldSpelling, rustSpelling } from "./idl-type.ts"
import { rustTypeFault } from "./rust-type.ts"

const name = z.string().min(1).max(256)

const rustType = z
  .string()
  .max(1024)
  .refine((text) => rustTypeFault(text) === undefined, { error: (issue) => rustTypeFault(String(issue.input)) })

/** Anything that `read` takes without a DocumentFault; what it read is thrown away, since the AST is kept as it stands. */
const readable = (read: (value: unknown) => unknown) =>
  z.unknown().check((context) => {
    try {
      read(context.value)
    } catch (error) {
      if (!(error instanceof DocumentFault)) throw error
      context.issues.push({
        code: "custom",
        input: context.value,
        path: [...error.segments],
        message: error.reason,
      })
    }
  })

const idlFields = z.array(readable((field) => fieldSpelling(field, 0))).nullish()
const idlType = readable((type) => rustSpelling(type))

const typeDefinition = z.discriminatedUnion(
  "kind",
  [
    z.looseObject({ kind: z.literal("struct"), fields: idlFields }),
    z.looseObject({ kind: z.literal("enum"), variants: z.array(z.looseObject({ name, fields: idlFields })) }),
    // A type alias, as Anchor writes it since 0.30 and as it did before.
    z.looseObject({ kind: z.literal("type"), alias: idlType }),
    z.looseObject({ kind: z.literal("alias"), value: idlType }),
  ],
  { error: ({ code }) => (code === "invalid_union" ? "must be struct, enum or type" : undefined) },
)

const idl = z.looseObject({
  name,
  program_id: z.string().nullish(),
  types: z.array(z.looseObject({ name, type: typeDefinition })).nullish(),
  accounts: z.array(z.looseObject({ name, fields: idlFields })).nullish(),
})

const field = z.looseObject({
  field_name: name,
  rust_type_name: rustType,
  base_type: z.string().optional(),
  is_optional: z.boolean().optional(),
  is_array: z.boolean().optional(),
  inner_type: z.string().nullish(),
  emit: z.boolean().optional(),
})

const outputs = ["Collection", "Single", "Keyed"] as const

/** `"Collection"`, or a variant that carries data: `{"Keyed": {"key_field": …}}`. */
export type ViewOutput = (typeof outputs)[number] | Readonly<Record<string, unknown>>

const isViewOutput = (value: unknown) => {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [value]
  return keys.length === 1 && outputs.some((output) => output === keys[0])
}

const view = z.looseObject({
  id: name,
  pipeline: z.array(z.unknown()).optional(),
  output: z.custom<ViewOutput>(isViewOutput, `must be one of ${outputs.join(", ")}`).optional(),
})

const entity = z.looseObject({
  state_name: name,
  program_id: z.string().nullish(),
  idl: idl.nullish(),
  identity: z.looseObject({ primary_keys: z.array(name) }),
  handlers: z.array(z.unknown()).optional(),
  sections: z.array(z.looseObject({ name, fields: z.array(field) })),
  views: z.array(view).optional(),
})

export const astShape = z.looseObject({
  ast_version: z.string().optional(),
  stack_name: name,
  program_ids: z.array(z.string()).optional(),
  idls: z.array(idl).optional(),
  entities: z.array(entity).min(1),
  content_hash: z.string().nullish(),
})

export type Ast = z.infer<typeof astShape>
export type AstEntity = Ast["entities"][number]
export type AstIdl = z.infer<typeof idl>
export type AstTypeDefinition = z.infer<typeof typeDefinition>

/** A field's path in an entity's state; the fields of the section `root` stand beside the sections. */
export const fieldPath = (section: string, fieldName: string): string => {
  return section === "root" ? fieldName : `${section}.${fieldName}`
}
