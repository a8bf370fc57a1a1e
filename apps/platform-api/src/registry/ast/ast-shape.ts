// The parts of an AST that the registry reads. Everything else is kept as published.
import { isObject } from "@svc/common/json-object"
import { inOwnWords } from "@svc/openapi"
import { z } from "zod"
import { DocumentFault, maxFaults } from "./document-fault.ts"
import { fieldSpelling, rustSpelling } from "./idl-type.ts"
import { rustTypeFault } from "./rust-type.ts"

const name = z.string().min(1).max(256)

const rustType = z
  .string()
  .max(1024)
  .refine((text) => rustTypeFault(text) === undefined, { error: (issue) => rustTypeFault(String(issue.input)) })

/** Accepts what `read` accepts without a DocumentFault. The result is discarded, because the AST stays as it is. */
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

/**
 * An array of such items, checked until enough faults are found: the validator would describe every one of a million.
 * The result is discarded, as above.
 */
const list = <T extends z.ZodType>(item: T): z.ZodType<z.infer<T>[]> =>
  z
    .custom<z.infer<T>[]>(Array.isArray, {
      abort: true,
      error: ({ input }) => (input === undefined ? "is missing" : "must be an array"),
    })
    .check(({ value, issues }) => {
      for (const [index, element] of value.entries()) {
        if (issues.length >= maxFaults) return
        for (const { path, message } of item.safeParse(element, inOwnWords).error?.issues ?? []) {
          issues.push({ code: "custom", input: element, path: [index, ...path], message })
        }
      }
    })

/** Limits the nesting of a type's Rust spelling. */
const shallow = (spelling: string): void => {
  const fault = rustTypeFault(spelling)
  if (fault?.startsWith("is nested") === true) throw new DocumentFault([], fault)
}

const idlFields = list(readable((field) => shallow(fieldSpelling(field, 0).type))).nullish()
const idlType = readable((type) => shallow(rustSpelling(type)))

const typeDefinition = z.discriminatedUnion(
  "kind",
  [
    z.looseObject({ kind: z.literal("struct"), fields: idlFields }),
    z.looseObject({ kind: z.literal("enum"), variants: list(z.looseObject({ name, fields: idlFields })) }),
    // A type alias, as Anchor writes it since 0.30 and as it did before.
    z.looseObject({ kind: z.literal("type"), alias: idlType }),
    z.looseObject({ kind: z.literal("alias"), value: idlType }),
  ],
  { error: ({ code }) => (code === "invalid_union" ? "must be struct, enum or type" : undefined) },
)

const idl = z.looseObject({
  name,
  program_id: z.string().nullish(),
  types: list(z.looseObject({ name, type: typeDefinition })).nullish(),
  accounts: list(z.looseObject({ name, fields: idlFields })).nullish(),
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

/** The outputs of views, with the mode in which such a view is read. */
export const viewModes = { Collection: "list", Single: "state", Keyed: "state" } as const

/** The name of `"Collection"`, or of a variant that carries data: `{"Keyed": {"key_field": …}}`. */
export const outputName = (output: unknown) => {
  const [found, ...others] = isObject(output) ? Object.keys(output) : [output]
  const names = Object.keys(viewModes) as (keyof typeof viewModes)[]
  return others.length > 0 ? undefined : names.find((one) => one === found)
}

const view = z.looseObject({
  id: name,
  pipeline: z.array(z.unknown()).optional(),
  output: z
    .unknown()
    .refine((output) => outputName(output) !== undefined, `must be one of ${Object.keys(viewModes).join(", ")}`)
    .optional(),
})

const entity = z.looseObject({
  state_name: name,
  program_id: z.string().nullish(),
  idl: idl.nullish(),
  identity: z.looseObject({ primary_keys: list(name) }),
  handlers: z.array(z.unknown()).optional(),
  sections: list(z.looseObject({ name, fields: list(field) })),
  views: list(view).optional(),
})

export const astShape = z.looseObject({
  ast_version: z.string().optional(),
  stack_name: name,
  program_ids: list(z.string()).optional(),
  idls: list(idl).optional(),
  entities: list(entity).refine(({ length }) => length > 0, "must not be empty"),
  content_hash: z.string().nullish(),
})

export type Ast = z.infer<typeof astShape>
export type AstEntity = Ast["entities"][number]
export type AstIdl = z.infer<typeof idl>
export type AstTypeDefinition = z.infer<typeof typeDefinition>

/** A field's path in an entity's state. The fields of the section `root` are at the top level. */
export const fieldPath = (section: string, fieldName: string): string =>
  section === "root" ? fieldName : `${section}.${fieldName}`
