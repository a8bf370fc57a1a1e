import { Command as Program, CommanderError, Option } from "commander"
import type { Command, Context } from "../command.ts"
import { commands } from "../commands.ts"
import { usageError } from "../errors.ts"
import type { Style } from "../output/style.ts"
import { environmentHelp } from "./help.ts"
import { closeTo } from "@svc/common/nearest"
import { commonOptions, optionOf, type OptionName } from "./options.ts"

export type Call = Pick<Context, "args" | "options" | "flags"> & { readonly command: Command }

type Setting = {
  /** All arguments, to tell "--name -x" from "--name=-x". */
  readonly argv: readonly string[]
  readonly version: string
  readonly style: Style
  /** Writes the help or the version. */
  readonly write: (text: string) => void
  readonly onCall: (call: Call) => void
}

// Longer lines are hard to read on any terminal.
const widest = 100
const commonHeading = "Options of every command:"

const pathOf = (program: Program): string => {
  const { parent } = program
  return parent === null ? "" : `${pathOf(parent)} ${program.name()}`.trim()
}

/** The option of this name. Its values are checked as they are read; one that is given twice is refused unless it repeats. */
const optionFor = (name: OptionName, program: Program, argv: readonly string[], shown = name as string): Option => {
  const { value: kind, short, help, takes, repeats } = optionOf(name)
  const flag = `--${shown}`
  const option = new Option(
    `${short === undefined ? "" : `-${short}, `}${flag}${kind === undefined ? "" : ` <${kind}>`}`,
    help,
  )
  if (kind === undefined) return option
  return option.argParser((value: string, old: string | undefined) => {
    const refuse = (problem: string): Error => usageError(problem, pathOf(program))
    if (value === "") throw refuse(`${flag} needs a value: ${flag} ${kind}.`)
    const isNext = argv.some((word, index) => word === flag && argv[index + 1] === value)
    if (isNext && value.startsWith("-") && value !== "-") {
      throw refuse(`${flag} needs a value. If it begins with a dash, write ${flag}=${kind}.`)
    }
    if (old !== undefined && repeats === undefined) throw refuse(`${flag} is given twice.`)
    if (takes?.fits(value) === false) throw refuse(`${flag} takes ${takes.what}.`)
    return old === undefined ? value : `${old}${repeats}${value}`
  })
}

/** An error in the call. It refers to the help of the command that was called. */
const refusal = ({ code, message }: CommanderError, program: Program): Error => {
  const path = pathOf(program)
  const names = program.commands.map((command) => `svc ${pathOf(command)}`).join(", ")
  if (code === "commander.help" && path === "") return usageError("A command is missing.", path)
  if (code === "commander.help") return usageError(`svc ${path} needs a second word. Commands: ${names}.`, path)
  const problem = message.replace(/^error: (.)/, (_, first: string) => first.toUpperCase()).replace("\n", " ")
  const [, flag] = /^Unknown option '(--[\w-]+)=/.exec(problem) ?? []
  if (flag !== undefined && program.options.some(({ long }) => long === flag))
    return usageError(`${flag} takes no value.`, path)
  if (code !== "commander.unknownCommand") return usageError(problem, path)
  const wrong = /'(.*?)'/s.exec(problem)?.[1] ?? ""
  const known = program.commands.map((command) => command.name())
  const near = closeTo(wrong, known)
  const hint = path === "" ? (near === undefined ? "" : ` Did you mean svc ${near}?`) : ` Commands: ${names}.`
  return usageError(`Unknown command: svc ${`${path} ${wrong}`.trim()}.${hint}`, path)
}

/** Makes the tool's program. Parsing calls `onCall`, writes a help or the version, or throws a usage error. */
export const createProgram = ({ argv, version, style, write, onCall }: Setting): Program => {
  const width = Math.min(style.width ?? widest, widest)
  const leaves = new Map<Program, Command>()
  const prepare = (program: Program): Program => {
    program.exitOverride((error) => {
      // What was asked for is written.
      throw ["commander.helpDisplayed", "commander.version"].includes(error.code) ? error : refusal(error, program)
    })
    for (const name of commonOptions) {
      const option = optionFor(name, program, argv).helpGroup(commonHeading)
      if (name === "help") program.addHelpOption(option)
      else program.addOption(option)
    }
    return program.enablePositionalOptions().helpCommand(false)
  }
  const leavesOf = (program: Program): Program[] =>
    program.commands.flatMap((command) => (leaves.has(command) ? [command] : leavesOf(command)))

  const root = prepare(
    new Program("svc")
      .configureOutput({
        writeOut: write,
        writeErr: () => {},
        getOutHelpWidth: () => width,
        getOutHasColors: () => true,
      })
      .configureHelp({
        minWidthToWrap: 20,
        styleTitle: style.bold,
        styleSubcommandTerm: style.cyan,
        styleOptionTerm: style.cyan,
        visibleCommands: leavesOf,
        subcommandTerm: (command) => `${pathOf(command)} ${leaves.get(command)?.usage ?? ""}`.trim(),
        subcommandDescription: (command) => leaves.get(command)?.summary ?? "",
        optionTerm: ({ flags }) => flags.replace(/^-\w, /, "").replace(/[<>]/g, ""),
      }),
  )
  root.description("svc: live Solana data for software agents").usage("COMMAND [OPTIONS]")
  root
    .version(version, "-v, --version", optionOf("version").help)
    .addHelpText("after", () => environmentHelp(root, style))

  for (const command of commands) {
    const { name, title, usage = "", options = [], summary, details, examples } = command
    const [first = "", second] = name.split(" ")
    const group = (): Program =>
      root.commands.find((one) => one.name() === first) ??
      prepare(root.command(first).helpGroup(`${title}:`)).usage("COMMAND [OPTIONS]")
    const leaf = second === undefined ? root.command(first) : group().command(second)
    leaf.description([`${summary}.`, details].filter(Boolean).join("\n\n")).usage(`${usage} [OPTIONS]`.trim())
    if (usage !== "") leaf.arguments(usage)
    leaves.set(leaf, command)
    for (const option of options) leaf.addOption(optionFor(option, leaf, argv).helpGroup("Options:"))
    // The versions of stacks are what people ask for; the tool's own stands before a command.
    if (options.includes("at")) leaf.addOption(optionFor("at", leaf, argv, "version").hideHelp())
    prepare(leaf.helpGroup(`${title}:`))
      .addHelpText("after", ["", style.bold("Examples:"), ...examples.map((one) => `  ${style.cyan(one)}`)].join("\n"))
      .action(() => onCall(callOf(leaf, command)))
  }
  return root
}

const callOf = (leaf: Program, command: Command): Call => {
  const args = leaf.args
  if (args.some((arg) => arg.trim() === "")) throw usageError("An argument is empty.", pathOf(leaf))
  const given = leaf.optsWithGlobals<Record<string, unknown>>()
  const options: Record<string, string> = {}
  const flags = new Set<string>()
  for (const option of leaf.options) {
    const value = given[option.attributeName()]
    const name = option.name() === "version" ? "at" : option.name()
    // An option such as --no-snapshot is true until it is given.
    if (value === !option.negate) flags.add(name)
    else if (typeof value === "string") options[name] = value
  }
  return { command, args, options, flags }
}

/** What the arguments call; undefined if they ask for a help or the version, which is written. Throws a usage error. */
export const readCall = (setting: Omit<Setting, "onCall">): Call | undefined => {
  let call: Call | undefined
  const program = createProgram({ ...setting, onCall: (made) => (call = made) })
  const [first, ...rest] = setting.argv
  try {
    program.parse(first === undefined || first === "help" ? [...rest, "--help"] : setting.argv, { from: "user" })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
  }
  return call
}
