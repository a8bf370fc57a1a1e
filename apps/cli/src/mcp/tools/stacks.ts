import type { Stack, StackSchema } from "@svc/client"
import { isObject } from "@svc/common/json-object"
import { nearest } from "@svc/common/nearest"
import { z } from "zod"
import { typesNamed } from "../../explore/explore-tables.ts"
import { type WithRecords, withRecords } from "../../explore/records-now.ts"
import { type Entity, entityOf, readRegistry, readStack } from "../../explore/stack.ts"
import { apiForReading } from "../../settings/key.ts"
import { fitting, following, forMore, shortened } from "../result.ts"
import { defineTool, readOnly } from "../tool.ts"

type Listed = WithRecords<Stack>

const hasData = ({ records }: Listed): boolean | undefined =>
  records && Object.values(records).some((count) => count > 0)

/** How many of the words a stack has. */
const matched = ({ name, description, entities }: Listed, words: readonly string[]): number => {
  const text = `${name} ${description ?? ""} ${entities.join(" ")}`.toLowerCase()
  return words.filter((word) => text.includes(word)).length
}

/** What to do after a search without results: the stacks that have some of the words, else those with a name like them. */
const noneHas = (words: readonly string[], all: readonly Listed[]): string => {
  if (all.length === 0) return "No stack is published here."
  const some = all.filter((stack) => matched(stack, words) > 0).map(({ name }) => name)
  const names = all.map(({ name }) => name)
  const near = some.length > 0 ? some.slice(0, 10) : nearest(words.join(" "), names)
  return `No stack has all these words. Nearest: ${near.join(", ")}. Without query all are listed.`
}

/** The view that keeps only its first records, in words; an empty text for one that keeps all. */
export const keptPart = ({ id, pipeline }: Pick<Entity["views"][number], "id" | "pipeline">): string => {
  const counts = pipeline.flatMap((step) => (isObject(step) && isObject(step["Take"]) ? [step["Take"]["count"]] : []))
  return counts.length === 0 ? "" : `${id} keeps ${counts.join()} records; ${id.split("/")[0]}/list keeps all.`
}

const shownEntity = ({ name, fields, views }: Entity) => ({
  name,
  fields: Object.fromEntries(fields.map(({ path, rust_type: type, nullable }) => [path, nullable ? `${type}?` : type])),
  views: views.map(({ id, mode, needs_key, key_field, sort }) => ({
    id,
    mode,
    key_field,
    ...(needs_key && { needs_key }),
    ...(sort !== null && { sort: `${sort.field} ${sort.order}` }),
  })),
})

/** The types that the fields name, and those that these types name. */
const typesOf = ({ types }: StackSchema, entities: readonly Entity[]) => {
  const texts = entities.flatMap(({ fields }) => fields.map(({ rust_type: type }) => type))
  return typesNamed(texts, types).map((type) => [
    type.name,
    type.kind === "enum" ? type.variants : Object.fromEntries(type.fields.map((field) => [field.name, field.type])),
  ])
}

export const stackTools = [
  defineTool({
    name: "list_stacks",
    description:
      "Find out which live data there is: each stack's name, description, entities, and whether it has records now. Then call describe_stack.",
    input: {
      query: z.string().optional().meta({ description: "words of name, description or entities" }),
      after: z.string().optional().meta({ description: "the last name of a truncated result" }),
    },
    output: {
      stacks: z.array(
        z.object({
          name: z.string(),
          description: z.string().optional(),
          entities: z.array(z.string()),
          has_data: z.boolean().optional(),
          deprecated: z.object({ message: z.string(), successor: z.string().optional() }).optional(),
        }),
      ),
      truncated: z.boolean().optional(),
      hint: z.string().optional(),
    },
    annotations: readOnly,
    run: async ({ context }, { query = "", after }) => {
      const given = context()
      const all = await withRecords(given, await readRegistry(given, await apiForReading(given)))
      const words = query.trim().toLowerCase().split(/\s+/)
      const found = following(all, "name", after)
        .filter((stack) => matched(stack, words) === words.length)
        .map((stack) => ({
          name: stack.name,
          description: shortened(stack.description ?? ""),
          entities: fitting(stack.entities, 2000).kept,
          has_data: hasData(stack),
          deprecated: stack.deprecated && { ...stack.deprecated, message: shortened(stack.deprecated.message) },
        }))
      const { kept, truncated } = fitting(found)
      const none = found.length > 0 || after !== undefined ? undefined : noneHas(words, all)
      return { stacks: kept, truncated, hint: truncated ? forMore("name") : none }
    },
  }),
  defineTool({
    name: "describe_stack",
    description:
      "Read a stack's schema before using it: fields with types (? = may be null), views with mode, sort, and the field whose value is the key.",
    input: { stack: z.string(), entity: z.string().optional() },
    output: {
      name: z.string(),
      websocket_url: z.string(),
      entities: z.array(
        z.object({
          name: z.string(),
          fields: z.record(z.string(), z.string()),
          views: z.array(
            z.object({
              id: z.string(),
              mode: z.string(),
              key_field: z.string().nullable(),
              needs_key: z.boolean().optional(),
              sort: z.string().optional(),
            }),
          ),
        }),
      ),
      types: z.record(z.string(), z.unknown()),
      records: z.record(z.string(), z.number()).optional(),
      hint: z.string().optional(),
    },
    annotations: readOnly,
    run: async ({ context }, { stack: name, entity }) => {
      const given = context()
      const stack = await readStack(given, await apiForReading(given), name)
      const [now] = await withRecords(given, [stack])
      const { schema } = stack
      const chosen = entity === undefined ? schema.entities : [entityOf(stack, entity)]
      const entities = fitting(chosen.map(shownEntity), 18_000)
      const kept = chosen.slice(0, entities.kept.length)
      const types = fitting(typesOf(schema, kept), 8000)
      const whole = `svc://stacks/${stack.name}/schema`
      const rest = entity === undefined ? `pass entity: ${schema.entities.map((one) => one.name).join(", ")}` : ""
      const hint = `Too large for one result: ${shortened(rest)}${rest === "" ? "" : "; or "}read the resource ${whole}`
      const parts = kept.flatMap(({ views }) => views.map(keptPart)).filter((part) => part !== "")
      const hints = [...parts, ...(entities.truncated || types.truncated ? [hint] : [])]
      return {
        name: stack.name,
        websocket_url: stack.websocket_url,
        entities: entities.kept,
        types: Object.fromEntries(types.kept),
        records: now?.records,
        ...(hints.length > 0 && { hint: shortened(hints.join(" ")) }),
      }
    },
  }),
]
