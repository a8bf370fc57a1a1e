import type { Field } from "./fields.ts"

/** Settings that can't be used. The message names every problem, one a line, and no value of a secret. */
export class ConfigError extends Error {
  override readonly name = "ConfigError"
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The settings can't be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`)
    this.problems = problems
  }
}

/** What is read: a field a setting, by the name that the program has for it; settings that belong together as a group. */
export type Fields = { readonly [name: string]: Field<unknown> | Fields }

type Config<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : F[Name] extends Fields ? Config<F[Name]> : never
}

const isField = (field: Field<unknown> | Fields): field is Field<unknown> => typeof field["variable"] === "string"

/**
 * Reads settings from the environment. A variable that is set but empty counts as unset. Throws one ConfigError with all
 * problems.
 * @param check tells what is wrong with settings that are each right but not together; `unusable` are the variables that
 *   are already reported, for which `config` holds their defaults
 */
export const loadConfig = <F extends Fields>(
  fields: F,
  env: Readonly<Record<string, string | undefined>>,
  check: (config: Config<F>, unusable: ReadonlySet<string>) => readonly string[] = () => [],
): Config<F> => {
  const problems: string[] = []
  const unusable = new Set<string>()
  const read = ({ variable, schema, fallback }: Field<unknown>): unknown => {
    const text = env[variable]?.trim() ?? ""
    if (text === "") return fallback
    const result = schema.safeParse(text)
    if (result.success) return result.data
    unusable.add(variable)
    problems.push(...result.error.issues.map(({ message }) => `${variable}: ${message}`))
    return fallback
  }
  const readAll = (group: Fields): object =>
    Object.fromEntries(
      Object.entries(group).map(([name, field]) => [name, isField(field) ? read(field) : readAll(field)]),
    )
  // Each field's own type vouches for what stands under its name.
  const config = readAll(fields) as Config<F>
  problems.push(...check(config, unusable))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}
