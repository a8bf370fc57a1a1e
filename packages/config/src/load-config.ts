import type { Field } from "./fields.ts"

/** What stops a start: the reason, the setting that leads to it, and the operator's next step. No text contains a secret. */
export class SetupError extends Error {
  override readonly name: string = "SetupError"
  readonly setting: string
  readonly next: string

  constructor(reason: string, setting: string, next: string, cause?: unknown) {
    super(reason, { cause })
    this.setting = setting
    this.next = next
  }
}

/** Invalid settings. The message has one line per problem and no secrets. */
export class ConfigError extends SetupError {
  override readonly name = "ConfigError"
  readonly problems: readonly string[]

  constructor(found: readonly string[]) {
    const problems = [...new Set(found)]
    const settings = new Set(problems.flatMap((problem) => problem.match(/^[A-Z_]+(?=[:,])/) ?? []))
    super(
      `The settings can't be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
      [...settings].join(", "),
      "Correct them: infra/env has the meaning of every setting.",
    )
    this.problems = problems
  }
}

/** The settings to read, by their names in the program. Groups of settings can be nested. */
export type Fields = { readonly [name: string]: Field<unknown> | Fields }

type Config<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : F[Name] extends Fields ? Config<F[Name]> : never
}

const isField = (field: Field<unknown> | Fields): field is Field<unknown> => typeof field["variable"] === "string"

/** What a program that reads a file of variables took for a part of the value, or undefined. Docker takes both for it. */
export const misreading = (text: string): string | undefined => {
  if (/^(["'])[^]*\1$/.test(text)) return "must have no quotes around its value"
  return /\s#(\s|$)/.test(text) ? "must have its comment on another line" : undefined
}

/**
 * Reads settings from the environment. A variable that is set but empty counts as unset. Throws one ConfigError with all
 * problems.
 * @param check returns problems with combinations of settings, false for none; `unusable` are the variables that have been reported already,
 *   for which `config` has the defaults
 * @example
 * ```ts
 * const { port } = loadConfig({ port: integer("PORT", 4001, { min: 0, max: 65_535 }) }, env)
 * ```
 */
export const loadConfig = <F extends Fields>(
  fields: F,
  env: Readonly<Record<string, string | undefined>>,
  check: (config: Config<F>, unusable: ReadonlySet<string>) => readonly (string | false)[] = () => [],
): Config<F> => {
  const problems: string[] = []
  const unusable = new Set<string>()
  const read = (setting: Field<unknown>): unknown => {
    const { variable, schema, fallback } = setting
    const text = env[variable]?.trim() ?? ""
    if (text === "") return fallback
    const misread = misreading(text)
    const result = misread === undefined ? schema.safeParse(text) : undefined
    if (result?.success) return result.data
    unusable.add(variable)
    const wrong = result?.error.issues.map(({ message }) => message) ?? [misread]
    problems.push(...wrong.map((message) => `${variable}: ${message}`))
    return fallback
  }
  const readAll = (group: Fields): object =>
    Object.fromEntries(
      Object.entries(group).map(([name, field]) => [name, isField(field) ? read(field) : readAll(field)]),
    )
  // Each field's type guarantees the type of its value.
  const config = readAll(fields) as Config<F>
  problems.push(...check(config, unusable).filter((problem) => problem !== false))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}
