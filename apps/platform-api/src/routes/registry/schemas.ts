import { z } from "@svc/openapi"
import { bumps, verdicts, visibilities } from "../../db/schema/index.ts"

export const namePath = z.object({ name: z.string().meta({ description: "The stack's name" }) })

const field = z.object({
  path: z.string().meta({ description: "The path with its section: `id.address`" }),
  rust_type: z.string(),
  nullable: z.boolean().meta({ description: "Whether it may be null" }),
  section: z.string(),
})
const view = z.object({
  id: z.string().meta({ description: "`Entity/name`: what a client subscribes to" }),
  mode: z.enum(["state", "list"]).meta({
    description: "`list`: many records. `state`: one, or one for each key",
  }),
  needs_key: z
    .boolean()
    .meta({ description: "Whether a subscription must have a key. In other views, a key is optional" }),
  key_field: z
    .string()
    .nullable()
    .meta({ description: "The path of the field whose value is a record's key; null if several fields are" }),
  sort: z
    .object({
      field: z.string().meta({ description: "The path of a field" }),
      order: z.enum(["asc", "desc"]).meta({ description: "Ascending or descending" }),
    })
    .nullable()
    .meta({ description: "The order of its records; null: the last changed first" }),
  pipeline: z.array(z.unknown()).meta({ description: "The steps that select and sort its records, in sequence" }),
})
const entity = z.object({
  name: z.string(),
  primary_keys: z.array(z.string()).meta({ description: "Paths of fields" }),
  fields: z.array(field),
  views: z.array(view),
})
const type = z.union([
  z.object({
    name: z.string(),
    kind: z.literal("struct"),
    fields: z.array(z.object({ name: z.string(), type: z.string() })),
  }),
  z.object({ name: z.string(), kind: z.literal("enum"), variants: z.array(z.string()) }),
])
const schema = z
  .object({ stack_name: z.string(), entities: z.array(entity), types: z.array(type) })
  .openapi("StackSchema")
const head = { name: z.string(), description: z.string().nullable(), websocket_url: z.string() }
export const deprecation = z.object({
  message: z.string(),
  since: z.iso.datetime(),
  successor: z.string().optional(),
})
const visibility = z.enum(visibilities)
export const detail = z
  .object({
    ...head,
    entities: z.array(z.string()),
    visibility,
    content_hash: z.string(),
    updated_at: z.iso.datetime(),
    version: z.int().positive(),
    relay: z.boolean().meta({ description: "Whether session tokens for it can have the transaction scopes" }),
    deprecated: deprecation.optional(),
    schema: schema.optional(),
  })
  .openapi("Stack")
export const schemaAnswer = z.object({ ...head, schema })
export const astAnswer = z.object({
  name: z.string(),
  stack: z.string(),
  description: z.string().nullable(),
  websocket_url: z.string(),
  visibility,
  content_hash: z.string(),
  ast_payload: z.looseObject({}),
})

export const verdict = z.enum(verdicts).meta({ description: "The effect on readers" })
export const bump = z.enum(bumps).meta({ description: "The change by semantic versioning" })
export const versionsAnswer = z.array(
  z.object({
    version: z.int().positive(),
    content_hash: z.string(),
    published_at: z.iso.datetime(),
    verdict,
    bump,
    changes: z.int().meta({ description: "How many changes from the previous version" }),
    message: z.string().optional(),
    current: z.boolean(),
  }),
)
export const diffAnswer = z
  .object({
    from: z.int().positive(),
    to: z.int().positive(),
    verdict,
    bump,
    changes: z.array(
      z.object({
        kind: z.string(),
        path: z.string(),
        before: z.unknown().optional(),
        after: z.unknown().optional(),
        breaking: z.boolean(),
        text: z.string(),
      }),
    ),
  })
  .openapi("Diff")
export const checkAnswer = z.object({
  version: z
    .int()
    .positive()
    .nullable()
    .meta({ description: "The version that it was compared with; null if there is none" }),
  content_hash: z.string(),
  ...diffAnswer.pick({ verdict: true, bump: true, changes: true }).shape,
  schema,
})
