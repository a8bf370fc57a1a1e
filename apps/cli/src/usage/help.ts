import type { Command, CommandGroup } from "../command.ts"
import type { Style } from "../output/style.ts"
import { hang } from "../output/wrap.ts"
import { findCommand } from "./arguments.ts"
import { commonOptions, optionOf, type OptionName } from "./options.ts"

// Longer lines are hard to read on any terminal.
const widest = 100

/** Two columns, the left one at most 28 wide: a longer entry stands on a line of its own. */
const columns = (rows: readonly (readonly [string, string])[], { width = widest, cyan }: Style): string => {
  const left = Math.min(28, Math.max(...rows.map(([name]) => name.length))) + 4
  return rows
    .map(([name, text]) => {
      const label = `  ${name}`.padEnd(left)
      const block = label.length > left ? `${label}\n${hang(" ".repeat(left), text, width)}` : hang(label, text, width)
      return block.replace(name, cyan(name))
    })
    .join("\n")
}

const optionRow = (name: OptionName): readonly [string, string] => {
  const { value, help } = optionOf(name)
  return [value === undefined ? `--${name}` : `--${name} ${value}`, help]
}

const listing = ({ title, commands }: CommandGroup, style: Style): string => {
  const rows = commands.map(({ name, usage = "", summary }) => [`${name} ${usage}`.trimEnd(), summary] as const)
  return `${style.bold(title)}\n${columns(rows, style)}`
}

const commandHelp = ({ name, usage = "", summary, details, options = [], examples }: Command, style: Style): string => {
  const { width, bold, cyan } = style
  return [
    hang("", `${summary}.`, width),
    hang("Usage: ", `svc ${name} ${usage} [OPTIONS]`.replace("  ", " "), width).replace("Usage:", bold("Usage:")),
    ...(details === undefined ? [] : [hang("", details, width)]),
    ...(options.length === 0 ? [] : [`${bold("Options")}\n${columns(options.map(optionRow), style)}`]),
    `${bold("Options of every command")}\n${columns(commonOptions.map(optionRow), style)}`,
    `${bold("Examples")}\n${examples.map((example) => `  ${cyan(example)}`).join("\n")}`,
  ].join("\n\n")
}

const overview = (groups: readonly CommandGroup[], style: Style): string => {
  const { width, bold } = style
  const settings = [
    ["SVC_API_URL", "the platform API (http://localhost:4003)"],
    ["SVC_DOCS_URL", "the documentation server (http://localhost:4001)"],
    ["SVC_RELAY_URL", "the transaction relay (http://localhost:4002)"],
    ["SVC_API_KEY", "a key for SVC_API_URL, used instead of the stored one"],
    ["NO_COLOR, FORCE_COLOR", "turn colors off, or on"],
  ] as const
  const exits = [
    ["0", "done"],
    ["1", "failed; with --json, stdout is {error, code}"],
    ["2", "wrong usage"],
    ["3", "undecided (send, payments settle, status)"],
  ] as const
  return [
    "svc: live Solana data for software agents",
    `${bold("Usage:")} svc COMMAND [OPTIONS]`,
    ...groups.map((group) => listing(group, style)),
    `${bold("Options of every command")}\n${columns(commonOptions.map(optionRow), style)}`,
    `${bold("Environment")}\n${columns(settings, style)}`,
    hang("", "Options come first, then the environment, then --context or the current context (svc contexts).", width),
    `${bold("Exit codes")}\n${columns(exits, style)}`,
    hang(
      "",
      "First steps: svc init, svc explore, svc auth signup. svc COMMAND --help shows a command's options.",
      width,
    ),
  ].join("\n\n")
}

/** The help for what the words name: one command, a group such as `keys`, or the whole tool. */
export const helpText = (words: readonly string[], groups: readonly CommandGroup[], given: Style): string => {
  const style = { ...given, width: Math.min(given.width ?? widest, widest) }
  const commands = groups.flatMap((group) => group.commands)
  const one = findCommand(words, commands)
  if (one !== undefined) return commandHelp(one, style)
  const [word] = words
  const group = word === undefined ? [] : commands.filter(({ name }) => name.startsWith(`${word} `))
  return group.length > 0 ? listing({ title: `svc ${word}`, commands: group }, style) : overview(groups, style)
}
