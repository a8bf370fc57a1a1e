// The formats of documents that programs read. Everything else is text for people.
import { visibleJson } from "@svc/common/foreign-text"

const jsonText = (value: unknown, indent?: number): string =>
  visibleJson(
    JSON.stringify(value, (_name, member: unknown) => (typeof member === "bigint" ? String(member) : member), indent),
  )

type Writer = {
  /** A whole document. */
  readonly document: (value: unknown, isTTY: boolean) => string
  /** One of several records, as they come. */
  readonly record: (value: unknown) => string
}

/** A document format for each option of this name; every command takes all of them. */
export const documentFormats = {
  json: { document: (value, isTTY) => jsonText(value, isTTY ? 2 : undefined), record: (value) => jsonText(value) },
} as const satisfies Readonly<Record<string, Writer>>

type DocumentFormat = keyof typeof documentFormats

/** What a command prints: text for people, or a document. Commands ask only whether it's text. */
export type Format = "text" | DocumentFormat

export const formatNames = Object.keys(documentFormats) as readonly DocumentFormat[]

/** The format that the arguments ask for, even if they are wrong otherwise. */
export const formatOf = (argv: readonly string[]): Format => {
  const end = argv.indexOf("--")
  const words = argv.slice(0, end === -1 ? argv.length : end)
  return formatNames.find((name) => words.some((word) => word.split("=")[0] === `--${name}`)) ?? "text"
}
