import type { Stack } from "@svc/client"
import type { Command as Program, Option } from "commander"
import type { Context, Outcome, Run } from "../command.ts"
import { usageError } from "../errors.ts"
import { ask } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { createProgram } from "./program.ts"

/** The first argument with which the scripts ask for the words that fit. Where none does, they offer the names of files. */
const completeWord = "__complete"

const scripts: Readonly<Record<string, string>> = {
  bash: `_svc() {
  local IFS=$'\\n'
  COMPREPLY=($(svc ${completeWord} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
}
complete -o default -F _svc svc`,
  zsh: `whence compdef > /dev/null || { autoload -Uz compinit && compinit; }
_svc() { compadd -- \${(f)"$(svc ${completeWord} "\${(@)words[2,CURRENT]}" 2> /dev/null)"} || _files }
compdef _svc svc`,
  fish: `function __svc
  set -l words (svc ${completeWord} (commandline -opc)[2..] (commandline -ct) 2> /dev/null)
  set -q words[1]; and string join \\n -- $words; or __fish_complete_path (commandline -ct)
end
complete -c svc -f -a '(__svc)'`,
}

export const shells = Object.keys(scripts)

// A key press shouldn't wait longer for a registry that is far away.
const timeoutMs = 1_000

const stackNames = async (context: Context): Promise<string[]> => {
  const api = await apiForReading(context)
  const stacks = await ask<readonly Stack[]>(api, "GET", "/api/registry?limit=100", undefined, timeoutMs)
  // What is completed becomes part of a command, which the shell reads.
  return stacks.flatMap(({ name }) => (/^[a-z0-9][a-z0-9-]*$/.test(name) ? [name] : []))
}

/** The command that the words name, its arguments so far, and the option whose value comes next. */
const locate = (root: Program, words: readonly string[]) => {
  let command = root
  let option: Option | undefined
  const args: string[] = []
  for (const word of words) {
    const isValue = option !== undefined
    const found: Option | undefined = command.options.find(({ short, long }) => [short, long].includes(word))
    option = !isValue && found?.required === true ? found : undefined
    if (isValue || word.startsWith("-")) continue
    const next = args.length === 0 ? command.commands.find((one) => one.name() === word) : undefined
    if (next === undefined) args.push(word)
    else command = next
  }
  return { command, option, args }
}

/** The words that can follow; the last of `words` is the one being typed, and may be empty. */
const candidates = async (words: readonly string[], context: Context): Promise<readonly string[]> => {
  const setting = { argv: words, version: "", style: context.style, write: () => {}, onCall: () => {} }
  const root = createProgram(setting)
  const { command, option, args } = locate(root, words.slice(0, -1))
  if (option !== undefined) return option.name() === "stack" ? stackNames(context) : []
  if (words.at(-1)?.startsWith("-") === true) {
    const shown = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? "")
    return [...(command === root ? ["--version"] : shown), "--help"]
  }
  if (command.commands.length > 0) return args.length > 0 ? [] : command.commands.map((one) => one.name())
  const { registeredArguments } = command
  const next = registeredArguments[args.length] ?? registeredArguments.find(({ variadic }) => variadic)
  if (next?.name() === "SHELL") return shells
  return next?.name() === "STACK" ? stackNames(context) : []
}

/** What a shell may complete the last word to, one word a line. Without a registry there are no stack names. */
export const complete: Run = async (context) => {
  const current = context.args.at(-1) ?? ""
  const found = await candidates(context.args, context).catch(() => [])
  const fitting = [...new Set(found)].filter((word) => word !== "" && word.startsWith(current))
  if (fitting.length > 0) context.write(`${fitting.join("\n")}\n`)
  return undefined
}

/** `svc completion SHELL`: a script for the shell's start-up file. */
export const completion = async ({ args: [shell = ""] }: Context): Promise<Outcome> => {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined) throw usageError(`SHELL must be one of ${shells.join(", ")}.`)
  return { json: { shell, script }, text: () => script }
}
