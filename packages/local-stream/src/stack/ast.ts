// The parts of a stack's AST that the local stream interprets. It ignores all others.
import { z } from "zod"

const path = z.object({ segments: z.array(z.string()) }).transform(({ segments }) => segments)

/** A variant of a Rust enum in JSON, such as `"First"` or `{"Take": {"count": 5}}`. Content that isn't an object is under `value`. */
export type Variant = { readonly kind: string; readonly content: Readonly<Record<string, unknown>> }

export const variant = z.union([z.string(), z.record(z.string(), z.unknown())]).transform((value): Variant => {
  if (typeof value === "string") return { kind: value, content: {} }
  const [[kind, content] = ["nothing", {}]] = Object.entries(value)
  const members = z.record(z.string(), z.unknown()).safeParse(content)
  return { kind, content: members.data ?? { value: content } }
})

/** Reads a variant's member as a path. Throws a ZodError if it isn't one. */
export const pathIn = ({ content }: Variant, name: string): readonly string[] => path.parse(content[name])

const mapping = z.object({
  target_path: z.string(),
  source: variant,
  transform: z.string().nullish(),
  population: z.string(),
  condition: z.object({ parsed: variant.nullish() }).nullish(),
  when: z.string().nullish(),
  stop: z.string().nullish(),
})

const handler = z.object({
  source: z.object({ Source: z.object({ type_name: z.string(), is_account: z.boolean().nullish() }) }),
  key_resolution: variant,
  mappings: z.array(mapping),
  conditions: z.array(z.object({ field: path, operator: z.string(), value: z.unknown() })).default([]),
})

const named = z.object({ field_name: z.string() })
const field = named.extend({
  rust_type_name: z.string(),
  emit: z.boolean().optional(),
  resolved_type: z.object({ fields: z.array(named) }).nullish(),
})

const target = z.object({ target_path: z.string() })
const entity = z.object({
  state_name: z.string(),
  identity: z.object({ primary_keys: z.array(z.string()), lookup_indexes: z.array(named).default([]) }),
  handlers: z.array(handler).default([]),
  sections: z.array(z.object({ name: z.string(), fields: z.array(field) })),
  computed_field_specs: z.array(target.extend({ expression: variant })).default([]),
  resolver_hooks: z.array(z.object({ account_type: z.string(), strategy: variant })).default([]),
  resolver_specs: z.array(z.object({ resolver: variant, extracts: z.array(target) })).default([]),
  views: z
    .array(
      z.object({
        id: z.string(),
        source: variant.optional(),
        pipeline: z.array(variant).default([]),
        output: variant.default({ kind: "Collection", content: {} }),
      }),
    )
    .default([]),
})

// codecs.ts checks the types of an IDL when it makes their decoders.
const layout = z.object({ name: z.string(), discriminator: z.array(z.number()).default([]) })
const idl = z.object({
  name: z.string(),
  program_id: z.string().nullish(),
  accounts: z.array(layout.extend({ fields: z.array(z.unknown()).nullish() })).default([]),
  instructions: z
    .array(layout.extend({ accounts: z.array(z.object({ name: z.string() })), args: z.array(z.unknown()) }))
    .default([]),
  types: z.array(z.object({ name: z.string(), type: z.looseObject({ kind: z.string() }) })).default([]),
  discriminant_size: z.number().default(8),
})

export const astShape = z.object({
  program_ids: z.array(z.string()).default([]),
  idls: z.array(idl).default([]),
  entities: z.array(entity),
})

export type Ast = z.infer<typeof astShape>
export type AstEntity = z.infer<typeof entity>
export type AstIdl = z.infer<typeof idl>
export type AstMapping = z.infer<typeof mapping>
