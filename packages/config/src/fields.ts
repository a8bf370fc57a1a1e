import { z } from "zod"
import { type Cidr, parseCidr } from "./cidr.ts"
import { Secret } from "./secret.ts"

/** How one variable is read: its text parsed, or `fallback` when it is unset or empty. */
export type Field<T> = { readonly schema: z.ZodType<T, string>; readonly fallback: T | typeof required }

/** Marks a field without which the program can't start. */
export const required: unique symbol = Symbol("required")

type Fallback<T> = { readonly default?: T }

const field = <T, D>(schema: z.ZodType<T, string>, options: { readonly default?: D }): Field<T | D> => ({
  schema,
  fallback: "default" in options ? options.default : required,
})

/** Any text. With `default: undefined` the setting is optional; without `default` it is required, as for every field. */
export const text = <D = never>(options: Fallback<D> = {}): Field<string | D> => field(z.string(), options)

/** `true`, `false`, `1` or `0` in any case. */
export const flag = (fallback: boolean): Field<boolean> =>
  field(
    z
      .string()
      .toLowerCase()
      .pipe(z.enum(["true", "false", "1", "0"], "must be true, false, 1 or 0"))
      .transform((word) => word === "true" || word === "1"),
    { default: fallback },
  )

/** A decimal integer between `min` and `max`, inclusive. */
export const integer = (options: { default: number; min: number; max?: number }): Field<number> => {
  const max = options.max ?? Number.MAX_SAFE_INTEGER
  const reason = `must be an integer from ${options.min} to ${max}`
  return field(
    z
      .string()
      .regex(/^-?\d+$/, reason)
      .transform(Number)
      .refine((value) => value >= options.min && value <= max, reason),
    options,
  )
}

/**
 * An absolute URL of one of the protocols (`http:` and `https:` unless said), without query and fragment, kept as written
 * but for a trailing slash. With `exact` that stays and both may be there, for a URL that nothing is appended to. A user
 * and password in it are refused, and shown nowhere, unless `credentials` says that they can be used: a database's URL,
 * which may have a query.
 */
export const url = <D = never>(
  options: Fallback<D> & {
    readonly protocols?: readonly string[]
    readonly exact?: boolean
    readonly credentials?: boolean
  } = {},
): Field<string | D> => {
  const protocols = options.protocols ?? ["http:", "https:"]
  const whole = options.exact === true || options.credentials === true
  const reason = `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`
  return field(
    z
      .string()
      .refine((value) => protocols.some((protocol) => isUrlOf(protocol, value)), reason)
      .refine((value) => whole || !/[?#]/.test(value), "must hold no query and no fragment")
      .refine((value) => options.credentials === true || !holdsCredentials(value), "must hold no user and no password")
      .refine(decodes, "holds a user or password whose % is not percent-encoded")
      .transform((value) => (options.exact === true ? value : value.replace(/\/+$/, ""))),
    options,
  )
}

/** Comma-separated URLs, each as `url` takes it; a repeated one counts once. */
export const urls = (
  options: { readonly exact?: boolean; readonly credentials?: boolean } = {},
): Field<readonly string[]> => {
  const { schema } = url(options)
  return field(
    z.string().transform((value, context) => {
      const read = words(value).map((word) => schema.safeParse(word))
      const wrong = read.find(({ success }) => !success)
      // Without the text: it may hold a password.
      if (wrong?.error !== undefined) {
        context.addIssue({ code: "custom", message: `each one ${wrong.error.issues[0]?.message ?? "must be a URL"}` })
        return z.NEVER
      }
      return [...new Set(read.flatMap(({ data }) => (data === undefined ? [] : [data])))]
    }),
    { default: [] },
  )
}

// URL itself reads "http:host" as "http://host"; kept as written it would be a broken link.
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

/** Comma-separated words; empty ones are dropped. */
export const list = (): Field<readonly string[]> => field(z.string().transform(words), { default: [] })

/** Comma-separated networks (`10.0.0.0/8`, `fd00::/8`) or bare addresses, each of which stands for that one host. */
export const cidrs = (): Field<readonly Cidr[]> =>
  field(
    z.string().transform((value, context) =>
      words(value).flatMap((word) => {
        const cidr = parseCidr(word)
        if (cidr !== undefined) return [cidr]
        context.addIssue({ code: "custom", message: `${JSON.stringify(word)} is no IP network` })
        return []
      }),
    ),
    { default: [] },
  )

/** A value that is never printed. */
export const secret = <D = never>(options: Fallback<D> = {}): Field<Secret | D> =>
  field(
    z.string().transform((value) => new Secret(value)),
    options,
  )

/** One of the words. */
export const oneOf = <const Word extends string>(choices: readonly Word[], fallback: Word): Field<Word> =>
  field(z.enum(choices, `must be one of ${choices.join(", ")}`), { default: fallback })
