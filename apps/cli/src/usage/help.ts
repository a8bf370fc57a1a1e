import { findCommand } from "./arguments.ts"
import type { Command } from "../commands.ts"
import { commonOptions, optionOf, type OptionName } from "./options.ts"

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n")
}

const optionRow = (name: OptionName): readonly [string, string] => {
  const { value, help } = optionOf(name)
  return [value === undefined ? `--${name}` : `--${name} ${value}`, help]
}

const commandHelp = ({ name, usage, summary, details, options, examples }: Command): string =>
  [
    `svc ${name}: ${summary}`,
    `Usage: svc ${name} [OPTIONS] ${usage}`.trimEnd(),
    ...(details === undefined ? [] : [details]),
    `Options:\n${columns([...options, ...commonOptions].map(optionRow))}`,
    `Examples:\n${examples.map((example) => `  ${example}`).join("\n")}`,
  ].join("\n\n")

const listing = (commands: readonly Command[]): string =>
  columns(commands.map(({ name, usage, summary }) => [`svc ${name} ${usage}`.trimEnd(), summary]))

const overview = (commands: readonly Command[]): string =>
  [
    "svc: live Solana data for software agents, from a terminal",
    `Commands:\n${listing(commands)}`,
    `Options of every command:\n${columns(commonOptions.map(optionRow))}\n  svc COMMAND --help says more about one, svc --version the version.`,
    [
      "Settings, the first that is there: option, environment, configuration file, local ports.",
      "  SVC_API_URL   the API                    (http://localhost:4003)",
      "  SVC_DOCS_URL  the documentation server   (http://localhost:4001)",
      "  SVC_RELAY_URL the transaction relay      (http://localhost:4002)",
      "  SVC_API_KEY   a key for SVC_API_URL, in place of the kept one",
      "  NO_COLOR      no bold and no colour",
      "  Files: config.json and credentials.json in $XDG_CONFIG_HOME/svc (~/.config/svc)",
    ].join("\n"),
    "Exit codes: 0 done, 1 failed ({error, code} with --json), 2 called in a wrong way, 3 undecided (send, status).",
    "First steps: svc init, svc explore, svc auth signup",
  ].join("\n\n")

/** The help on what the words name: one command, a group, or all. */
export const helpText = (words: readonly string[], commands: readonly Command[]): string => {
  const one = findCommand(words, commands)
  if (one !== undefined) return commandHelp(one)
  const group = words[0] === undefined ? [] : commands.filter(({ name }) => name.startsWith(`${words[0]} `))
  return group.length > 0 ? `Commands:\n${listing(group)}` : overview(commands)
}
