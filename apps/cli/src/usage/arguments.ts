import { parseArgs } from "node:util"
import type { Command } from "../command.ts"
import { usageError } from "../errors.ts"
import { closeTo } from "./nearest.ts"
import { commonOptions, isOptionName, optionOf, optionTable, type OptionName } from "./options.ts"

export type Call =
  | { readonly kind: "version" }
  /** Help for one command, for all that begin with a word (`svc auth --help`), or for the whole tool. */
  | { readonly kind: "help"; readonly words: readonly string[] }
  | {
      readonly kind: "run"
      readonly command: Command
      readonly args: readonly string[]
      readonly options: Readonly<Record<string, string>>
      readonly flags: ReadonlySet<string>
    }

const optionNames = Object.keys(optionTable).filter(isOptionName)

const parserOptions = Object.fromEntries(
  optionNames.map((name) => {
    const { value, short } = optionOf(name)
    return [
      name,
      { type: value === undefined ? "boolean" : "string", ...(short === undefined ? {} : { short }) } as const,
    ]
  }),
)

const tokensOf = (argv: readonly string[]) =>
  parseArgs({ args: [...argv], options: parserOptions, strict: false, allowPositionals: true, tokens: true }).tokens

const wordsOf = (tokens: ReturnType<typeof tokensOf>): string[] =>
  tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []))

const unknownCommand = ([first = "", ...rest]: readonly string[], commands: readonly Command[]): Error => {
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length > 0) {
    const names = group.map(({ name }) => `svc ${name}`).join(", ")
    const problem =
      rest[0] === undefined ? `svc ${first} needs a second word` : `Unknown command: svc ${first} ${rest[0]}`
    return usageError(`${problem}. Commands: ${names}.`, first)
  }
  const near = closeTo(
    first,
    commands.map(({ name }) => name.split(" ")[0] ?? ""),
  )
  return usageError(`Unknown command: svc ${first}.${near === undefined ? "" : ` Did you mean svc ${near}?`}`, "")
}

/** The command that the first words name; if both `keys` and `keys list` exist, the longer one. */
export const findCommand = (words: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands
    .filter(({ name }) => name.split(" ").every((word, index) => words[index] === word))
    .toSorted((a, b) => b.name.length - a.name.length)[0]

/** How many arguments a command takes, from its usage. Words in brackets are optional, and what follows < is a file. */
export const argumentCount = ({ usage = "" }: Command): { readonly least: number; readonly most: number } => {
  const [shown = ""] = usage.split("<")
  const count = (text: string): number => text.match(/[A-Z_]+/g)?.length ?? 0
  return {
    least: count(shown.replaceAll(/\[.*\]/g, "")),
    most: shown.includes("…") ? 100 : count(shown),
  }
}

const readOptions = (
  tokens: ReturnType<typeof tokensOf>,
  allowed: readonly OptionName[],
  command: string,
): Pick<Extract<Call, { kind: "run" }>, "options" | "flags"> => {
  const options: Record<string, string> = {}
  const flags = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== "option") continue
    const { name, rawName, value } = token
    if (!isOptionName(name) || !allowed.includes(name)) {
      const near = closeTo(name, allowed)
      const whose = command === "" ? "svc" : `svc ${command}`
      throw usageError(
        `${whose} has no option ${rawName}.${near === undefined ? "" : ` Did you mean --${near}?`}`,
        command,
      )
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
      throw usageError(`--${name} needs a value. If it begins with a dash, write --${name}=${row.value}.`, command)
    }
    if (old !== undefined && row.repeats !== true) throw usageError(`--${name} is given twice.`, command)
    if (row.takes?.fits(value) === false) throw usageError(`--${name} takes ${row.takes.what}.`, command)
    options[name] = old === undefined ? value : `${old} ${value}`
  }
  return { options, flags }
}

/** Reads the arguments. Throws a usage error instead of guessing. */
export const readArguments = (argv: readonly string[], commands: readonly Command[]): Call => {
  const tokens = tokensOf(argv)
  const words = wordsOf(tokens)
  const has = (name: OptionName): boolean => tokens.some((token) => token.kind === "option" && token.name === name)
  if (argv.length === 0) return { kind: "help", words }
  if (words[0] === "help") return { kind: "help", words: words.slice(1) }
  if (has("help")) return { kind: "help", words }
  if (has("version") && words.length === 0) return { kind: "version" }
  const command = findCommand(words, commands)
  if (command === undefined) {
    readOptions(tokens, optionNames, "")
    if (words.length === 0) throw usageError("A command is missing.", "")
    throw unknownCommand(words, commands)
  }
  const { name, usage = "", options: own = [] } = command
  if (own.includes("at") && has("version")) {
    return readArguments(
      argv.map((word) => word.replace(/^--version(?==|$)/, "--at")),
      commands,
    )
  }
  const { options, flags } = readOptions(tokens, [...own, ...commonOptions], name)
  const args = words.slice(name.split(" ").length)
  const { least, most } = argumentCount(command)
  if (args.length < least) throw usageError(`${usage} is missing: svc ${name} ${usage}.`, name)
  if (args.length > most) throw usageError(`Too many arguments. Usage: ${`svc ${name} ${usage}`.trimEnd()}.`, name)
  if (args.some((arg) => arg.trim() === "")) throw usageError("An argument is empty.", name)
  return { kind: "run", command, args, options, flags }
}
