import type { z } from "zod"
import { BodyError } from "./body.ts"

/** Where a value first breaks its schema (`a.b[0]`, empty for the value itself), and how. */
export type ValidationFailure = { readonly path: string; readonly reason: string }

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : `${text}${text === "" ? "" : "."}${String(part)}`),
    "",
  )

/** The first failure of a validation; an unknown key is named by its own path. */
export const firstFailure = (error: z.ZodError): ValidationFailure => {
  const issue = error.issues[0]
  if (issue === undefined) return { path: "", reason: "is not valid" }
  if (issue.code === "unrecognized_keys") {
    return { path: pathText([...issue.path, ...issue.keys.slice(0, 1)]), reason: "is not a known field" }
  }
  return { path: pathText(issue.path), reason: issue.message }
}

/** Returns the parsed value, or throws a BodyError of kind `invalid` that names the first failure. */
export const validate = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new BodyError({ kind: "invalid", ...firstFailure(result.error) })
}
