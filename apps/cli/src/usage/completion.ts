import type { Context, Outcome, Run } from "../command.ts"
import { commands } from "../commands.ts"
import { usageError } from "../errors.ts"
import { textOf } from "../output/json-value.ts"
import { callApi } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { argumentCount, findCommand } from "./arguments.ts"
import { commonOptions, isOptionName, optionOf } from "./options.ts"

/** The first argument with which the scripts ask for the words that fit. */
export const completeWord = "__complete"

const scripts: Readonly<Record<string, string>> = {
  bash: `_svc() {
  local IFS=$'\\n'
  COMPREPLY=($(svc ${completeWord} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
}
complete -o default -F _svc svc`,
  zsh: `whence compdef > /dev/null || { autoload -Uz compinit && compinit; }
_svc() { compadd -- \${(f)"$(svc ${completeWord} "\${(@)words[2,CURRENT]}" 2> /dev/null)"} }
compdef _svc svc`,
  fish: `complete -c svc -f -a '(svc ${completeWord} (commandline -opc)[2..] (commandline -ct) 2> /dev/null)'`,
}

// A key press shouldn't wait longer for a registry that is far away.
const timeoutMs = 1_000

const stackNames = async (context: Context): Promise<string[]> => {
  const { body } = await callApi(await apiForReading(context), "/api/registry?limit=100", { timeoutMs })
  return Array.isArray(body) ? body.map((stack) => textOf(stack, "name")) : []
}

const takesValue = (word: string | undefined): boolean =>
  word !== undefined && isOptionName(word.slice(2)) && optionOf(word.slice(2) as "stack").value !== undefined

/** The words that can follow; the last of `words` is the one being typed, and may be empty. */
const candidates = async (words: readonly string[], context: Context): Promise<readonly string[]> => {
  const before = words.slice(0, -1)
  const last = before.at(-1)
  if (last === "--stack") return stackNames(context)
  if (takesValue(last)) return []
  const typed = before.filter((word, index) => !word.startsWith("-") && !takesValue(before[index - 1]))
  const command = findCommand(typed, commands)
  if (words.at(-1)?.startsWith("-") === true) {
    const names = command === undefined ? ["help", "version"] : [...(command.options ?? []), ...commonOptions]
    return names.map((name) => `--${name}`)
  }
  if (command === undefined) {
    const parts = commands.map(({ name }) => name.split(" "))
    return parts
      .filter((part) => typed.every((word, index) => part[index] === word))
      .map((part) => part[typed.length] ?? "")
  }
  const { name, usage = "" } = command
  const given = typed.length - name.split(" ").length
  if (usage === "SHELL" && given === 0) return Object.keys(scripts)
  const isStack = /^\[?STACK/.test(usage) && (given === 0 || argumentCount(command).most > 2)
  return isStack ? stackNames(context) : []
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
  if (script === undefined) throw usageError(`SHELL must be one of ${Object.keys(scripts).join(", ")}.`)
  return { json: { shell, script }, text: () => script }
}
