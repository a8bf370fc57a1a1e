// The one way in for arguments of tools, whichever server they come to.
import { isObject, type JsonObject, parseJson } from "@svc/common/json-object"
import { closeTo } from "@svc/common/nearest"
import { failuresIn, inOwnWords, unknownMember, type ValidationFailure } from "@svc/common/validation"
import type { z } from "zod"
import { isUnset } from "./message.ts"
import type { JsonSchema } from "./schema.ts"

/** What the caller of a tool can correct. The message says what is wrong, the hint the next step. */
export class ToolError extends Error {
  override readonly name = "ToolError"
  readonly code: string
  readonly hint: string

  constructor(code: string, message: string, hint: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

/** What a text stands for where another type is wanted; the text itself if it doesn't parse to that. */
const parsed = (type: string, text: string): unknown => {
  // Python writes True.
  const value = parseJson(type === "boolean" ? text.toLowerCase() : text)
  return ["null", type === "integer" ? "number" : type].includes(typeOf(value)) ? value : text
}

/** A value as a schema wants it, where it can be meant so. */
const fit = (schema: JsonSchema, value: unknown): unknown => {
  const { type, items } = schema
  const read = typeof value === "string" && type !== undefined && type !== "string" ? parsed(type, value) : value
  if (type === "array" && Array.isArray(read)) return read.map((one) => fit(items ?? {}, one))
  if (type === "object" && isUnset(read)) return null
  return type === "object" && isObject(read) ? fitMembers(schema, read) : read
}

/** Null, and an empty text, leave out what is optional. */
const fitMembers = ({ properties = {}, required = [] }: JsonSchema, given: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, sent]) => {
      const value = Object.hasOwn(properties, name) ? fit(properties[name] ?? {}, sent) : sent
      const isAbsent = (value === null || value === "") && !required.includes(name)
      return isAbsent ? [] : [[name, value]]
    }),
  )

/** The names of all members of a schema, at every depth. */
const namesIn = ({ properties = {}, items = {} }: JsonSchema): string[] => {
  const inside = [...Object.values(properties), ...(Object.keys(items).length > 0 ? [items] : [])]
  return [...Object.keys(properties), ...inside.flatMap(namesIn)]
}

/** What n8n adds to the arguments of every call, from its agent's session. */
const added = new Set(["sessionId", "action", "chatInput", "tool", "toolCallId"])
const withoutAdded = ({ properties = {} }: JsonSchema, given: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !added.has(name) || Object.hasOwn(properties, name)))

/** The members of what contains the value at a path such as `where[0].op`; undefined for an argument of the tool itself. */
const siblings = (listed: JsonSchema, path: string): string | undefined => {
  const around = path.replace(/\.[^.]*$/, "")
  if (around === path) return undefined
  const inside = (schema: JsonSchema | undefined, part: string): JsonSchema | undefined =>
    /^\d+$/.test(part) ? schema?.items : schema?.properties?.[part]
  const { properties } = around.match(/[^.[\]]+/g)?.reduce(inside, listed) ?? {}
  return properties && `${around} takes ${Object.keys(properties).join(", ")}.`
}

const mostFaults = 3

/** What takes arguments: a schema, the same as clients list it, and what a call with others is sure not to have done. */
type Taking<Input extends z.ZodObject> = {
  readonly name: string
  readonly input: Input
  readonly listed: JsonSchema
  readonly untouched?: string | undefined
}

const exampleOf = ({ type, properties = {}, items, enum: values }: JsonSchema): unknown => {
  if (type === "array") return [exampleOf(items ?? {})]
  if (type !== "object") return values?.[0] ?? "…"
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]))
}

/**
 * The arguments of a call as a tool takes them. Null, an empty text and nothing are the same for what is optional, and a text that
 * parses to the wanted type counts as it. Throws invalid-arguments, which names what is wrong.
 */
export const readArguments = <Input extends z.ZodObject>(
  { name: tool, input, listed, untouched = "" }: Taking<Input>,
  given: unknown,
): z.output<Input> => {
  const result = input.safeParse(
    isObject(given) ? fitMembers(listed, withoutAdded(listed, given)) : (given ?? {}),
    inOwnWords,
  )
  if (result.success) return result.data
  const { properties = {} } = listed
  const names = Object.keys(properties)
  const told = ({ path, reason }: ValidationFailure): string => {
    const wanted = properties[path]
    if (!reason.startsWith(unknownMember)) {
      const isShaped = wanted !== undefined && /^must be an (?:array|object)/.test(reason)
      const example = isShaped ? `, such as ${JSON.stringify(exampleOf(wanted))}` : ""
      return `${path === "" ? "arguments" : path} ${reason}${example}`
    }
    const near = closeTo(/[^.]*$/.exec(path)?.[0] ?? "", path.includes(".") ? namesIn(listed) : names)
    return `${path} isn't an argument of ${tool}${near === undefined ? "" : ` (did you mean ${near}?)`}`
  }
  // The last one of a path is the schema's own, after the bounds of every integer.
  const failures = failuresIn(result.error)
  const ofEach = failures.filter(({ path }, index) => failures.findLastIndex((one) => one.path === path) === index)
  const faults = ofEach.slice(0, mostFaults).map(told)
  const takes = siblings(listed, ofEach[0]?.path ?? "") ?? `${tool} takes ${names.join(", ")}.`
  throw new ToolError("invalid-arguments", `${faults.join("; ")}.`, `${untouched}${takes}`)
}
