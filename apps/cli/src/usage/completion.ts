import type { Command } from "../commands.ts"
import type { Context, Outcome } from "../context.ts"
import { usageError } from "../errors.ts"
import { commonOptions } from "./options.ts"

const shells = ["bash", "zsh", "fish"] as const

const optionsOf = (command: Command): string[] => [...command.options, ...commonOptions].map((name) => `--${name}`)

/** What may follow the words typed so far: first words, second words, options, each with its condition. */
const first = (commands: readonly Command[]): string[] => [
  ...new Set(commands.map(({ name }) => name.split(" ")[0] ?? "")),
]

const second = (commands: readonly Command[], word: string): string[] =>
  commands.flatMap(({ name }) => (name.startsWith(`${word} `) ? [name.slice(word.length + 1)] : []))

const bash = (commands: readonly Command[]): string => {
  const groups = first(commands).filter((word) => second(commands, word).length > 0)
  return [
    "_svc() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${first(commands).join(" ")} --help --version"`,
    "  else",
    '    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
    ...commands.map(
      (command) =>
        `      "${command.name}${command.name.includes(" ") ? '"' : ' "*'}) words="${optionsOf(command).join(" ")}" ;;`,
    ),
    "    esac",
    '    if [ "$COMP_CWORD" -eq 2 ]; then',
    '      case "${COMP_WORDS[1]}" in',
    ...groups.map((word) => `        ${word}) words="${second(commands, word).join(" ")}" ;;`),
    '        completion) words="bash zsh fish" ;;',
    "      esac",
    "    fi",
    "  fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -F _svc svc",
  ].join("\n")
}

const fish = (commands: readonly Command[]): string => {
  const lines = ["complete -c svc -f"]
  for (const word of first(commands)) {
    lines.push(`complete -c svc -n __fish_use_subcommand -a ${word}`)
    const seconds = second(commands, word)
    const chosen = seconds.map((name) => `not __fish_seen_subcommand_from ${name}`).join("; and ")
    for (const name of seconds) {
      lines.push(`complete -c svc -n "__fish_seen_subcommand_from ${word}; and ${chosen}" -a ${name}`)
    }
  }
  lines.push('complete -c svc -n "__fish_seen_subcommand_from completion" -a "bash zsh fish"')
  for (const command of commands) {
    const condition = command.name
      .split(" ")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ")
    for (const option of optionsOf(command)) lines.push(`complete -c svc -n "${condition}" -l ${option.slice(2)}`)
  }
  return lines.join("\n")
}

/** `svc completion SHELL`: a script for the shell's start-up file. */
export const completion =
  (commands: readonly Command[]) =>
  async (context: Context): Promise<Outcome> => {
    const shell = shells.find((name) => name === context.args[0])
    if (shell === undefined) throw usageError(`SHELL is one of ${shells.join(", ")}.`, "completion")
    const scripts = {
      bash: () => bash(commands),
      // zsh reads bash's way of completing.
      zsh: () =>
        `whence compdef > /dev/null || { autoload -Uz compinit && compinit; }\nautoload -Uz bashcompinit && bashcompinit\n${bash(commands)}`,
      fish: () => fish(commands),
    }
    const script = scripts[shell]()
    return { json: { shell, script }, text: script }
  }
