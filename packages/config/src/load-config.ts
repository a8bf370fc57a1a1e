import { type Field, required } from "./fields.ts"

/** Settings that can't be used. The message names every problem, one a line, and no value of a secret. */
export class ConfigError extends Error {
  override readonly name = "ConfigError"
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The settings can't be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`)
    this.problems = problems
  }
}

type Fields = Readonly<Record<string, Field<unknown>>>
type Settings<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/**
 * Reads settings from the environment: one field a variable, keyed by the variable's name. A variable that is set but
 * empty counts as unset. Throws one ConfigError with all problems.
 * @param check tells what is wrong with settings that are each right but not together
 */
export const loadConfig = <F extends Fields>(
  fields: F,
  env: Readonly<Record<string, string | undefined>>,
  check: (settings: Settings<F>) => readonly string[] = () => [],
): Settings<F> => {
  const problems: string[] = []
  const settings: Record<string, unknown> = {}
  for (const [name, { schema, fallback }] of Object.entries(fields)) {
    const value = env[name]?.trim() ?? ""
    if (value === "") {
      if (fallback === required) problems.push(`${name}: is required`)
      else settings[name] = fallback
      continue
    }
    const result = schema.safeParse(value)
    if (result.success) settings[name] = result.data
    else problems.push(...result.error.issues.map((issue) => `${name}: ${issue.message}`))
  }
  // Each field's own type vouches for what stands under its name.
  const typed = settings as Settings<F>
  if (problems.length === 0) problems.push(...check(typed))
  if (problems.length > 0) throw new ConfigError(problems)
  return typed
}
