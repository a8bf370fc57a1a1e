import type { z } from "zod"
import { closeTo } from "./nearest.ts"

/** Where a value first breaks its schema (`a.b[0]`, empty for the value itself), and how. */
export type ValidationFailure = { readonly path: string; readonly reason: string }

/** What the reason begins with for a member that the schema doesn't have. */
export const unknownMember = "is not a known field"

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : `${text}${text === "" ? "" : "."}${String(part)}`),
    "",
  )

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  record: "an object",
  null: "null",
}

const listed = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(", ")}`

const size = (bound: string, origin: string, count: unknown): string => {
  const unit = origin === "string" ? " characters" : origin === "array" ? " elements" : ""
  return `must be ${bound} ${String(count)}${unit}`
}

const namesOf = (schema: unknown): readonly string[] =>
  schema instanceof Object && "shape" in schema && schema.shape instanceof Object ? Object.keys(schema.shape) : []

const unknownField = (key: string, known: readonly string[]): string => {
  if (known.length === 0) return `${unknownMember}; there are none`
  const near = closeTo(key, known)
  return `${unknownMember}; ${near === undefined ? `the known fields are ${known.join(", ")}` : `did you mean ${near}?`}`
}

const reasonOf = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${typeNames[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return issue.input === undefined ? "is missing" : `must be ${listed(issue.values)}`
    case "too_small":
      if (issue.minimum === 1 && ["string", "array"].includes(issue.origin)) return "must not be empty"
      return size("at least", issue.origin, issue.minimum)
    case "too_big":
      return size("at most", issue.origin, issue.maximum)
    case "invalid_format":
      return issue.format === "regex" ? "has a form that is not allowed" : `must be a ${issue.format}`
    case "invalid_union":
      return issue.input === undefined ? "is missing" : "has none of the forms that are allowed"
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`
    case "unrecognized_keys":
      return namesOf(issue.inst).join()
    case "invalid_key":
    case "invalid_element":
    case "custom":
    default:
      return "is not valid"
  }
}

/**
 * Options for `safeParse`: reasons as the schemas word them, else in our own words. A library's texts change with its
 * releases and speak of its types.
 */
export const inOwnWords = { error: reasonOf }

/** What fails in a validation by \`inOwnWords\`; each unknown key is named by its own path. */
export const failuresIn = (error: z.ZodError): ValidationFailure[] =>
  error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({
          path: pathText([...issue.path, key]),
          reason: unknownField(key, issue.message.split(",").filter(Boolean)),
        }))
      : [{ path: pathText(issue.path), reason: issue.message }],
  )

/** The first of them. */
export const firstFailure = (error: z.ZodError): ValidationFailure =>
  failuresIn(error)[0] ?? { path: "", reason: "is not valid" }
