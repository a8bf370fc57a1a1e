import { z } from "zod"
import { type Cidr, parseCidr } from "./cidr.ts"
import { Secret } from "./secret.ts"

/** A setting: how to parse its variable, and `fallback` if that is unset or empty. */
export type Field<T> = {
  readonly variable: string
  readonly schema: z.ZodType<T, string>
  readonly fallback: T
}

/** Any text. */
export const text = <D extends string | undefined>(variable: string, fallback: D): Field<string | D> => ({
  variable,
  schema: z.string(),
  fallback,
})

/** `true`, `false`, `1` or `0` in any case. */
export const flag = <D extends boolean | undefined>(variable: string, fallback: D): Field<boolean | D> => ({
  variable,
  schema: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["true", "false", "1", "0"], "must be true, false, 1 or 0"))
    .transform((word) => word === "true" || word === "1"),
  fallback,
})

/** A decimal integer between `min` and `max`, inclusive. */
export const integer = <D extends number | undefined>(
  variable: string,
  fallback: D,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): Field<number | D> => {
  const reason = `must be an integer from ${min} to ${max}`
  const schema = z
    .string()
    .regex(/^-?\d+$/, reason)
    .transform(Number)
    .refine((value) => value >= min && value <= max, reason)
  return { variable, schema, fallback }
}

/**
 * An absolute URL of one of the protocols (default `http:` and `https:`) without query and fragment. A trailing slash is
 * removed. With `exact`, for a URL that nothing is appended to, the slash stays and query and fragment are allowed. A user and
 * password are rejected without being shown, unless `credentials` allows them, as for a database, whose URL may have a query.
 */
export const url = <D extends string | undefined>(
  variable: string,
  fallback: D,
  options: UrlOptions = {},
): Field<string | D> => ({ variable, schema: urlSchema(options), fallback })

/** Comma-separated URLs, each as for `url`, without duplicates. Default: none. */
export const urls = (variable: string, options: UrlOptions = {}): Field<readonly string[]> => {
  const one = urlSchema(options)
  const schema = z.string().transform((value, context) => {
    const read = words(value).map((word) => one.safeParse(word))
    const wrong = read.find(({ success }) => !success)
    // The message omits the text, which may contain a password.
    if (wrong?.error !== undefined) {
      context.addIssue({ code: "custom", message: `each one ${wrong.error.issues[0]?.message ?? "must be a URL"}` })
      return z.NEVER
    }
    return [...new Set(read.flatMap(({ data }) => (data === undefined ? [] : [data])))]
  })
  return { variable, schema, fallback: [] }
}

type UrlOptions = {
  readonly protocols?: readonly string[]
  readonly exact?: boolean
  readonly credentials?: boolean
}

const urlSchema = ({ protocols = ["http:", "https:"], exact = false, credentials = false }: UrlOptions) =>
  z
    .string()
    .refine(
      (value) => protocols.some((protocol) => isUrlOf(protocol, value)),
      `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
    )
    .refine((value) => exact || credentials || !/[?#]/.test(value), "must hold no query and no fragment")
    .refine((value) => credentials || !holdsCredentials(value), "must hold no user and no password")
    .refine(decodes, "holds a user or password whose % is not percent-encoded")
    .transform((value) => (exact ? value : value.replace(/\/+$/, "")))

// URL reads "http:host" as "http://host", but as it is written the link would be broken.
const isUrlOf = (protocol: string, value: string): boolean =>
  URL.parse(value)?.protocol === protocol && value.slice(0, protocol.length + 2).toLowerCase() === `${protocol}//`

const holdsCredentials = (value: string): boolean => {
  const { username, password } = URL.parse(value) ?? {}
  return username !== undefined && (username !== "" || password !== "")
}

const decodes = (value: string): boolean => {
  const { username = "", password = "" } = URL.parse(value) ?? {}
  try {
    return decodeURIComponent(username + password) !== undefined
  } catch {
    return false
  }
}

const words = (value: string): string[] =>
  value
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")

/** Comma-separated words, without empty ones. Default: none. */
export const list = (variable: string): Field<readonly string[]> => ({
  variable,
  schema: z.string().transform(words),
  fallback: [],
})

/**
 * Comma-separated networks (`10.0.0.0/8`, `fd00::/8`) or addresses of single hosts. Default: none.
 */
export const cidrs = (variable: string): Field<readonly Cidr[]> => ({
  variable,
  schema: z.string().transform((value, context) =>
    words(value).flatMap((word) => {
      const cidr = parseCidr(word)
      if (cidr !== undefined) return [cidr]
      context.addIssue({ code: "custom", message: `${JSON.stringify(word)} is no IP network` })
      return []
    }),
  ),
  fallback: [],
})

/** A value that is never printed. */
export const secret = (variable: string): Field<Secret | undefined> => ({
  variable,
  schema: z.string().transform((value) => new Secret(value)),
  fallback: undefined,
})

/** One of the words. */
export const oneOf = <const Word extends string>(
  variable: string,
  fallback: Word,
  choices: readonly Word[],
): Field<Word> => ({ variable, schema: z.enum(choices, `must be one of ${choices.join(", ")}`), fallback })
