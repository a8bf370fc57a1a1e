import { parseArgs } from "node:util"
import type { Command } from "../commands.ts"
import { usageError } from "../errors.ts"
import { nearest } from "./nearest.ts"
import { commonOptions, isOptionName, optionOf, optionTable, type OptionName } from "./options.ts"

export type Call =
  | { readonly kind: "version" }
  /** Help on one command, on all that begin with a word (`svc auth --help`), or on everything. */
  | { readonly kind: "help"; readonly words: readonly string[] }
  | {
      readonly kind: "run"
      readonly command: Command
      readonly args: readonly string[]
      readonly options: Readonly<Record<string, string>>
      readonly flags: ReadonlySet<string>
    }

const parserOptions = Object.fromEntries(
  Object.keys(optionTable)
    .filter(isOptionName)
    .map((name) => {
      const { value, short } = optionOf(name)
      return [
        name,
        { type: value === undefined ? "boolean" : "string", ...(short === undefined ? {} : { short }) } as const,
      ]
    }),
)

const unknownCommand = (words: readonly string[], commands: readonly Command[]): Error => {
  const typed = words.slice(0, 2).join(" ")
  const group = commands.filter(({ name }) => name.startsWith(`${words[0] ?? ""} `))
  if (group.length > 0) {
    const names = group.map(({ name }) => `svc ${name}`).join(", ")
    const problem = words.length === 1 ? `svc ${typed} needs a further word` : `There is no command svc ${typed}`
    return usageError(`${problem}: ${names}.`, words[0])
  }
  const firstWords = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))]
  const near = nearest(words[0] ?? "", firstWords, 1).join()
  return usageError(`There is no command svc ${words[0] ?? ""}. Did you mean svc ${near}?`)
}

/** The command that the first words name; of `keys` and `keys list` the longer one. */
export const findCommand = (words: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands
    .filter(({ name }) => name.split(" ").every((word, index) => words[index] === word))
    .reduce<Command | undefined>(
      (best, next) => ((best?.name.length ?? 0) >= next.name.length ? best : next),
      undefined,
    )

const readOptions = (tokens: ReturnType<typeof tokensOf>, allowed: ReadonlySet<OptionName>, command: string) => {
  const options: Record<string, string> = {}
  const flags = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== "option") continue
    const { name, rawName, value } = token
    if (!isOptionName(name) || !allowed.has(name)) {
      const near = nearest(name, [...allowed], 1).join()
      throw usageError(`svc ${command} has no option ${rawName}. Did you mean --${near}?`.replace("  ", " "), command)
    }
    const row = optionOf(name)
    if (row.value === undefined) {
      if (value !== undefined) throw usageError(`--${name} takes no value.`, command)
      flags.add(name)
      continue
    }
    const old = options[name]
    if (value === undefined || value === "")
      throw usageError(`--${name} needs a value: --${name} ${row.value}.`, command)
    if (value.startsWith("-") && value !== "-" && !token.inlineValue) {
      throw usageError(
        `--${name} needs a value; one that begins with a dash is written --${name}=${row.value}.`,
        command,
      )
    }
    if (old !== undefined && row.repeats !== true) throw usageError(`--${name} is given twice.`, command)
    options[name] = old === undefined ? value : `${old} ${value}`
  }
  return { options, flags }
}

const tokensOf = (argv: readonly string[]) =>
  parseArgs({ args: [...argv], options: parserOptions, strict: false, allowPositionals: true, tokens: true }).tokens

/** Whether JSON is asked for, be the rest as wrong as it may. */
export const wantsJson = (argv: readonly string[]): boolean => {
  const end = argv.indexOf("--")
  return argv.slice(0, end === -1 ? argv.length : end).some((word) => /^--json(=|$)/.test(word))
}

/** What the arguments ask for; throws a usage error that never guesses. */
export const readArguments = (argv: readonly string[], commands: readonly Command[]): Call => {
  const tokens = tokensOf(argv)
  const words = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []))
  const has = (name: OptionName): boolean => tokens.some((token) => token.kind === "option" && token.name === name)
  if (words[0] === "help") return { kind: "help", words: words.slice(1) }
  if (has("help")) return { kind: "help", words }
  if (has("version") && words.length === 0) return { kind: "version" }
  const command = findCommand(words, commands)
  if (command === undefined) {
    readOptions(tokens, new Set(Object.keys(optionTable).filter(isOptionName)), "")
    if (words.length === 0) throw usageError("Which command?")
    throw unknownCommand(words, commands)
  }
  const { options, flags } = readOptions(tokens, new Set([...command.options, ...commonOptions]), command.name)
  const args = words.slice(command.name.split(" ").length)
  if (args.length < command.least)
    throw usageError(`${command.usage} is missing: svc ${command.name} ${command.usage}.`, command.name)
  if (args.length > command.most) {
    throw usageError(`Too many arguments: svc ${command.name} ${command.usage}`.trimEnd(), command.name)
  }
  if (args.some((arg) => arg.trim() === "")) throw usageError("An argument is empty.", command.name)
  return { kind: "run", command, args, options, flags }
}
