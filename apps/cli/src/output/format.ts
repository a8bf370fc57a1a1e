import { visibleJson } from "@svc/common/foreign-text"

/** What a command prints: text for people, or one JSON document for programs. */
export type Format = "text" | "json"

/** A value as JSON. A bigint becomes a decimal string. */
export const jsonText = (value: unknown, indent?: number): string =>
  visibleJson(
    JSON.stringify(value, (_name, member: unknown) => (typeof member === "bigint" ? String(member) : member), indent),
  )

/** The format that the arguments ask for, even if they are wrong otherwise. */
export const formatOf = (argv: readonly string[]): Format => {
  const end = argv.indexOf("--")
  const words = argv.slice(0, end === -1 ? argv.length : end)
  return words.some((word) => word.split("=")[0] === "--json") ? "json" : "text"
}
