// Describes changes of a schema in words.

export type Kind =
  | `${"entity" | "view" | "field" | "type" | "type-field" | "variant"}-${"added" | "removed" | "changed"}`
  | "primary-keys-changed"
  | "stack-changed"

const nouns: Readonly<Record<string, string>> = { "type-field": "field", stack: "stack" }

const mostTold = 5

/** The first breaking changes, in one line. */
export const breakingText = (changes: readonly { readonly breaking: boolean; readonly text: string }[]): string => {
  const texts = changes.filter(({ breaking }) => breaking).map(({ text }) => text)
  const more = texts.length > mostTold ? `, and ${texts.length - mostTold} more` : ""
  return texts.slice(0, mostTold).join("; ") + more
}

type Loose = Readonly<Record<string, unknown>>

const asRecord = (value: unknown): Loose => (typeof value === "object" && value !== null ? { ...value } : {})

/** A short form of a field's Rust type, a variant's payload or a view's mode. */
const brief = (value: unknown): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.join(", ")
  const { rust_type, nullable, type, mode, kind, fields } = asRecord(value)
  if (typeof rust_type === "string") return nullable === true ? `Option<${rust_type}>` : rust_type
  if (typeof type === "string") return type
  if (typeof mode === "string") return mode
  if (typeof kind === "string") return kind
  if (!Array.isArray(fields)) return "no payload"
  return `(${fields.map((field) => `${String(asRecord(field)["name"])}: ${brief(field)}`).join(", ")})`
}

/** One line: what was at `path` before, and what is there now. */
export const changeText = (
  kind: Kind,
  path: string,
  { before, after }: { readonly before?: unknown; readonly after?: unknown },
): string => {
  const cut = kind.lastIndexOf("-")
  const part = kind.slice(0, cut)
  const verb = kind.slice(cut + 1)
  if (part === "stack") return `stack_name: ${String(before)} → ${String(after)}`
  if (part === "primary-keys") return `primary keys of ${path}: ${brief(before)} → ${brief(after)}`
  const what = `${nouns[part] ?? part} ${path}`
  if (verb === "removed") return `${what} removed`
  if (verb === "added") {
    return part === "field" || part === "type-field" ? `${what} added: ${brief(after)}` : `${what} added`
  }
  const was = brief(before)
  const is = brief(after)
  if (was !== is) return `${what}: ${was} → ${is}`
  return part === "view" ? `${what}: another pipeline` : `${what} changed`
}
