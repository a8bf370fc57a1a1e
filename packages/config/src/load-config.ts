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
 * @param check tells what is wrong with settings that are each right but not together; `unusable` are the variables that
 *   are already reported, for which `settings` holds their defaults
 */
export const loadConfig = <F extends Fields>(
  fields: F,
  env: Readonly<Record<string, string | undefined>>,
  check: (settings: Settings<F>, unusable: ReadonlySet<string>) => readonly string[] = () => [],
): Settings<F> => {
  const problems: string[] = []
  const settings: Record<string, unknown> = {}
  const unusable = new Set<string>()
  let complete = true
  for (const [name, { schema, fallback }] of Object.entries(fields)) {
    const value = env[name]?.trim() ?? ""
    const result = value === "" ? undefined : schema.safeParse(value)
    if (result?.success === true) {
      settings[name] = result.data
      continue
    }
    if (result !== undefined) {
      unusable.add(name)
      problems.push(...result.error.issues.map((issue) => `${name}: ${issue.message}`))
    } else if (fallback === required) problems.push(`${name}: is required`)
    if (fallback === required) complete = false
    else settings[name] = fallback
  }
  // Each field's own type vouches for what stands under its name.
  const typed = settings as Settings<F>
  if (complete) problems.push(...check(typed, unusable))
  if (problems.length > 0) throw new ConfigError(problems)
  return typed
}
