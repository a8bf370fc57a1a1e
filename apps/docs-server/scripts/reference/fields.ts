import { z } from "zod"

/** As much of JSON Schema as the services' OpenAPI documents use. */
export const schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  get properties() {
    return z.record(z.string(), schema).optional()
  },
  required: z.array(z.string()).optional(),
  get items() {
    return schema.optional()
  },
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  get allOf() {
    return z.array(schema).optional()
  },
  get anyOf() {
    return z.array(schema).optional()
  },
  get oneOf() {
    return z.array(schema).optional()
  },
})
export type Schema = z.infer<typeof schema>

type Field = { readonly name: string; readonly type: string; readonly required: boolean; readonly meaning: string }

/** Gives a schema by its `$ref`. */
export type Lookup = (ref: string) => Schema

const resolved = (one: Schema, lookup: Lookup): Schema => {
  if (one.$ref !== undefined) return resolved(lookup(one.$ref), lookup)
  if (one.allOf === undefined) return one
  const parts = one.allOf.map((part) => resolved(part, lookup))
  return {
    type: "object",
    properties: Object.assign({}, ...parts.map(({ properties }) => properties), one.properties),
    required: parts.flatMap(({ required = [] }) => required),
  }
}

const choices = (one: Schema): readonly Schema[] => one.anyOf ?? one.oneOf ?? []

/** A schema's type as readers say it: `array of string`. */
export const typeOf = (one: Schema, lookup: Lookup): string => {
  const { type, items, enum: values, const: only } = one
  if (only !== undefined) return JSON.stringify(only)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" or ")
  const kinds = choices(one).map((choice) => typeOf(resolved(choice, lookup), lookup))
  if (kinds.length > 0) return [...new Set(kinds)].join(" or ")
  const names = typeof type === "string" ? [type] : (type ?? ["any"])
  const itemType = items === undefined ? "any" : typeOf(resolved(items, lookup), lookup)
  const typed = names.map((name) => (name === "array" ? `array of ${itemType}` : name))
  return [...new Set(typed.join(" or ").split(" or "))].join(" or ")
}

const formats: Readonly<Record<string, string>> = { byte: "base64", "date-time": "ISO 8601", uri: "a URL" }

/** How many of something a caller may send: `1 to 64 characters`. */
const sizes = (least: number | undefined, most: number | undefined, what: string): string[] => {
  if (most === undefined) return least === undefined ? [] : [`at least ${least} ${what}`]
  return [
    (least ?? 0) === 0 ? `at most ${most} ${what}` : least === most ? `${most} ${what}` : `${least} to ${most} ${what}`,
  ]
}

/** What bounds the values that a caller sends; a reader of responses doesn't need it. */
const sentLimits = ({ minLength, maxLength, minItems, maxItems, pattern }: Schema): string[] => [
  ...sizes(minLength, maxLength, "characters"),
  ...(maxItems === 1 ? [] : sizes(minItems, maxItems, "items")),
  ...(pattern === undefined ? [] : [`pattern \`${pattern}\``]),
]

const limits = ({ minimum, maximum, format, default: preset }: Schema): string[] => [
  ...(format === undefined || formats[format] === undefined ? [] : [formats[format]]),
  ...(minimum === undefined || minimum === 0 ? [] : [`at least ${minimum}`]),
  ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
  ...(preset === undefined || preset === "" ? [] : [`default ${JSON.stringify(preset)}`]),
]

/** What a field means and what bounds it, as one sentence or two. @param isSent whether callers send it */
export const meaningOf = (one: Schema, isSent: boolean): string => {
  const text = (one.description ?? "").replaceAll(/\s+/g, " ").trim().replace(/\.$/, "")
  const bounds = [...limits(one), ...(isSent ? sentLimits(one) : [])].join(", ")
  if (bounds === "") return text
  return text === "" ? `${bounds.charAt(0).toUpperCase()}${bounds.slice(1)}` : `${text}; ${bounds}`
}

// Deeper objects are named, not expanded: nobody would read such a table.
const deepest = 4

/** The fields of an object, those of objects inside it by their path: `a.b`, `a[].b`. */
export const fieldsOf = (given: Schema, lookup: Lookup, isSent: boolean, prefix = "", depth = 0): Field[] => {
  const one = resolved(given, lookup)
  const objects = [one, ...choices(one).map((choice) => resolved(choice, lookup))].filter(
    ({ properties }) => properties !== undefined,
  )
  if (objects.length === 0)
    return one.items === undefined || depth >= deepest ? [] : fieldsOf(one.items, lookup, isSent, `${prefix}[]`, depth)
  const fields = objects.flatMap((object) => fieldsOfObject(object, lookup, isSent, prefix, depth))
  return [...Map.groupBy(fields, ({ name }) => name).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const types = new Set([first, ...others].map(({ type }) => type))
    return [{ ...first, type: [...types].join(" or ") }]
  })
}

const fieldsOfObject = (object: Schema, lookup: Lookup, isSent: boolean, prefix: string, depth: number): Field[] => {
  const required = new Set(object.required)
  return Object.entries(object.properties ?? {}).flatMap(([name, raw]) => {
    const field = resolved(raw, lookup)
    const path = prefix === "" ? name : `${prefix}.${name}`
    const inner = depth < deepest ? fieldsOf(field, lookup, isSent, path, depth + 1) : []
    const meaning = meaningOf({ ...field, description: raw.description ?? field.description }, isSent)
    const own: Field = { name: path, type: typeOf(field, lookup), required: required.has(name), meaning }
    return [own].concat(inner)
  })
}

const cell = (text: string): string => text.replaceAll("|", "\\|")

/** Rows as a table; the columns that say nothing in any row are left out. */
export const tableOf = (heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const kept = heads.map((_, column) => column === 0 || rows.some((row) => row[column] !== ""))
  const line = (cells: readonly string[]): string =>
    `| ${cells
      .filter((_, column) => kept[column])
      .map(cell)
      .join(" | ")} |`
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n")
}
