import { z } from "zod"
import { type Cidr, parseCidr } from "./cidr.ts"
import { Secret } from "./secret.ts"

/** A setting: how to parse its variable, and `fallback` if that is unset or empty. */
export type Field<T> = {
  readonly variable: string
  readonly schema: z.ZodType<T, string>
  readonly fallback: T
}

/** A setting of any kind. */
export const field = <T>(variable: string, schema: z.ZodType<T, string>, fallback: T): Field<T> => ({
  variable,
  schema,
  fallback,
})

/** Any text. */
export const text = <D extends string | undefined>(variable: string, fallback: D) =>
  field<string | D>(variable, z.string(), fallback)

/** `true`, `false`, `1` or `0` in any case. */
export const flag = <D extends boolean | undefined>(variable: string, fallback: D) => {
  const schema = z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"], error: "must be true, false, 1 or 0" })
  return field<boolean | D>(variable, schema, fallback)
}

/** A decimal integer between `min` and `max`, inclusive. */
export const integer = <D extends number | undefined>(
  variable: string,
  fallback: D,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
) => {
  const reason = `must be an integer from ${min} to ${max}`
  const digits = z.string().regex(/^-?\d+$/, reason)
  const schema = digits.transform(Number).refine((value) => value >= min && value <= max, reason)
  return field<number | D>(variable, schema, fallback)
}

/**
 * An absolute URL of one of the protocols (default `http:` and `https:`) without query and fragment. A trailing slash is
 * removed. With `exact`, for a URL that nothing is appended to, the slash stays and query and fragment are allowed. A user and
 * password are rejected without being shown, unless `credentials` allows them, as for a database, whose URL may have a query.
 */
export const url = <D extends string | undefined>(variable: string, fallback: D, options: UrlOptions = {}) =>
  field<string | D>(variable, urlSchema(options), fallback)

/** Comma-separated URLs, each as for `url`, without duplicates. Default: none. */
export const urls = (variable: string, options: UrlOptions = {}) => {
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
  return field<readonly string[]>(variable, schema, [])
}

type UrlOptions = {
  readonly protocols?: readonly string[]
  readonly exact?: boolean
  readonly credentials?: boolean
}

const urlSchema = ({ protocols = ["http:", "https:"], exact = false, credentials = false }: UrlOptions) =>
  z
    .string()
    .refine((value) => !credentials || !isTornApart(value), { error: encoded, abort: true })
    .refine((value) => !/\s/.test(value), "must not contain white space")
    .refine((value) => !/^postgres(ql)?:\/\/[^/?#]*@[/?]/i.test(value), {
      error: "has no host: write localhost after the @, which a socket's folder in ?host= replaces",
      abort: true,
    })
    .refine((value) => !startsWith(protocols, value) || URL.canParse(value), {
      error: "isn't a valid URL: correct its host, which can be one only, and its port",
      abort: true,
    })
    .refine(
      (value) => protocols.some((protocol) => isUrlOf(protocol, value)),
      `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
    )
    .refine((value) => exact || credentials || !/[?#]/.test(value), "must not contain a query or fragment")
    .refine((value) => credentials || !holdsCredentials(value), "must not contain a user or password")
    .refine(decodes, "holds a user or password whose % is not percent-encoded")
    .transform((value) => (exact ? value : value.replace(/\/+$/, "")))

const encoded = "holds a user or password whose /, ?, # or @ isn't percent-encoded (%2F, %3F, %23, %40)"

// The first /, ? or # ends the authority. Either what is left of it has no @ and no port, and the rest has an @; or it has a
// password with an @, and after it there is another one, before any parameter's value: which of them precedes the host? Or the
// rest is missing, because in a file of variables a # begins a comment.
const tornApart = [
  /^[a-z]+:\/\/[^/?#@]*:(?!\d+[/?#])[^/?#@]*[/?#].*@/i,
  /^[a-z]+:\/\/[^/?#@]*:[^/?#]*@[^/?#]*(?:\/[^?#]*@|[^?#]*[?#][^=]*@)/i,
  /^[a-z]+:\/\/[^/?#@[]*:(?!\d*$)[^/?#@]*$/i,
]
const isTornApart = (value: string): boolean => tornApart.some((form) => form.test(value))

const startsWith = (protocols: readonly string[], value: string): boolean =>
  protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`))

// URL reads "http:host" as "http://host", but as it is written the link would be broken.
const isUrlOf = (protocol: string, value: string): boolean =>
  URL.parse(value)?.protocol === protocol && startsWith([protocol], value)

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
export const list = (variable: string) => field<readonly string[]>(variable, z.string().transform(words), [])

/**
 * Comma-separated networks (`10.0.0.0/8`, `fd00::/8`) or addresses of single hosts. Default: none.
 */
export const cidrs = (variable: string) => {
  const schema = z.string().transform((value, context) =>
    words(value).flatMap((word) => {
      const cidr = parseCidr(word)
      if (cidr !== undefined) return [cidr]
      context.addIssue({ code: "custom", message: `${JSON.stringify(word)} isn't an IP network` })
      return []
    }),
  )
  return field<readonly Cidr[]>(variable, schema, [])
}

/** A value that is never printed. */
export const secret = (variable: string) =>
  field<Secret | undefined>(
    variable,
    z.string().transform((value) => new Secret(value)),
    undefined,
  )

/** One of the words. */
export const oneOf = <const Word extends string>(variable: string, fallback: Word, choices: readonly Word[]) =>
  field<Word>(variable, z.enum(choices, `must be one of ${choices.join(", ")}`), fallback)
