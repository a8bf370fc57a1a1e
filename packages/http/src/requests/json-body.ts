import { duplicateKey, hasMoreValues, isDeeper } from "@svc/common/json-text"
import { BodyError } from "@svc/errors"
import type { Context, MiddlewareHandler } from "hono"
import { type BodyOptions, isBodyless, readBody } from "./body.ts"
import type { HttpEnv } from "../request-context.ts"
import { withoutRepeats } from "./negotiate.ts"

type JsonRules = {
  /** The most members and elements a text may have, in all. They are counted before anything is made of the text. */
  readonly maxValues?: number
  /** How deep arrays and objects may be nested. */
  readonly maxDepth?: number
}

/** A JSON text and its value. */
export type JsonText = { readonly text: string; readonly value: unknown }

type JsonBodyOptions = Omit<BodyOptions, "limit"> &
  JsonRules & {
    /** Largest body, in bytes; may depend on the request, such as on a limit of the caller's token. */
    readonly limit: number | ((c: Context) => number)
    /** The value that an empty body stands for; without it a Content-Type and a body are required. */
    readonly emptyAs?: unknown
    /** Told how many bytes the body has, once all of it is there. */
    readonly onSize?: (bytes: number, c: Context) => void
  }

const jsonType = "application/json"
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const invalidJson = (reason: string): BodyError => new BodyError({ kind: "invalid-json", reason })

/** What keeps a body from being read as UTF-8 JSON, by its Content-Type; undefined when nothing does. */
export const jsonTypeFault = ({ req }: Context): string | undefined => {
  // Between quotes a semicolon doesn't end a parameter.
  const header = withoutRepeats((req.header("content-type") ?? "").toLowerCase()).replaceAll(/"[^"]*;[^"]*"/g, "")
  const [type = "", ...parameters] = header.split(";")
  if (type.trim() !== jsonType) return "the body must be JSON with Content-Type: application/json"
  const isOther = (parameter: string) => /^\s*charset=(?!\s*"?utf-?8"?\s*$)/.test(parameter)
  return parameters.some(isOther) ? "the charset must be UTF-8" : undefined
}

/** Whether a request may turn out to have no body, so that its Content-Type doesn't matter. */
export const seemsEmpty = ({ req, env }: Pick<Context<HttpEnv>, "req" | "env">): boolean =>
  req.header("content-type") === undefined || isBodyless(env)

/** JSON bytes as text and value: UTF-8 without a byte order mark (RFC 8259 section 8.1). Throws BodyError. */
export const jsonText = (bytes: Uint8Array, { maxValues = Infinity, maxDepth = Infinity }: JsonRules): JsonText => {
  const invalid = (reason: string) => new BodyError({ kind: "invalid", path: "", reason })
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalidJson("the body is not UTF-8")
  }
  if (text.startsWith("\ufeff")) throw invalidJson("the body begins with a byte order mark")
  if (hasMoreValues(text, maxValues)) throw invalid(`must have at most ${maxValues} members and elements`)
  if (maxDepth < Infinity && isDeeper(text, maxDepth)) throw invalid(`must have at most ${maxDepth} levels of nesting`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // V8's message quotes the text around the fault; a body can hold a secret, so only its place is told.
    const place = /at position \d+/.exec(String(error))?.[0]
    throw invalidJson(`the body is not JSON${place === undefined ? "" : ` (${place})`}`)
  }
  // Readers would disagree about which one counts.
  const duplicate = duplicateKey(text)
  if (duplicate !== undefined) throw invalidJson(`the key ${JSON.stringify(duplicate)} stands twice in one object`)
  return { text, value }
}

/**
 * A route's middleware that reads a JSON body strictly, in this order: content type, declared length, bytes under the cap and
 * the deadline, UTF-8, number and depth of values, JSON, unique keys. Throws BodyError. Where `emptyAs` is given, an empty body may
 * have any Content-Type, because some clients name a form's, or none. After it, `c.req.valid("json")`, `c.req.json()` and `c.req.text()` have the body,
 * and `c.var.json` has it parsed.
 */
export const jsonBody =
  ({ limit, deadlineMs, onSize, ...rules }: JsonBodyOptions): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const mayBeEmpty = "emptyAs" in rules
    const isPacked = (c.req.header("content-encoding")?.trim().toLowerCase() ?? "identity") !== "identity"
    const reason = isPacked ? "the body must not be compressed (Content-Encoding)" : jsonTypeFault(c)
    const fault = reason === undefined ? undefined : new BodyError({ kind: "unsupported-media-type", reason })
    if (fault !== undefined && !(mayBeEmpty && seemsEmpty(c))) throw fault
    const bytes = await readBody(c, { limit: typeof limit === "number" ? limit : limit(c), deadlineMs })
    onSize?.(bytes.length, c)
    const isEmpty = mayBeEmpty && bytes.length === 0
    if (fault !== undefined && !isEmpty) throw fault
    // A validator reads the body from here.
    const json = isEmpty ? { text: JSON.stringify(rules.emptyAs), value: rules.emptyAs } : jsonText(bytes, rules)
    c.set("json", json)
    Object.assign(c.req.bodyCache, { text: Promise.resolve(json.text) })
    // What was checked above is accepted, even where the validator's own check of the type is narrower.
    if (c.req.header("content-type") !== jsonType) c.req.raw.headers.set("content-type", jsonType)
    await next()
  }
