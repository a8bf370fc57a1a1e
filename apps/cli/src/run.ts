import { SvcError } from "@svc/client"
import manifest from "../package.json" with { type: "json" }
import { readArguments, wantsJson, type Call } from "./usage/arguments.ts"
import { commands as plainCommands, type Command } from "./commands.ts"
import { completion } from "./usage/completion.ts"
import type { Context, Screen } from "./context.ts"
import { CliError, serviceFailure, withoutKeys } from "./errors.ts"
import { helpText } from "./usage/help.ts"
import { settingsFolder, variable, type Environment } from "./settings/settings.ts"
import { plain, plainLines } from "./output/table.ts"

/** What the tool is given by the process. */
export type Runtime = {
  readonly argv: readonly string[]
  readonly env: Environment
  /** The user's home folder, where there is one. */
  readonly home: string | undefined
  readonly stdout: {
    readonly isTTY: boolean
    /** Gives false once nobody reads it any more. */
    readonly write: (text: string) => boolean
    readonly screen?: () => Screen
  }
  readonly stderr: { readonly isTTY: boolean; readonly write: (text: string) => void }
  readonly readLine: () => Promise<string>
  readonly readInput: (file: string) => Promise<Uint8Array>
  readonly onInterrupt: (interrupted: () => void) => () => void
}

const commands: readonly Command[] = [
  ...plainCommands,
  {
    name: "completion",
    usage: "SHELL",
    least: 1,
    most: 1,
    options: [],
    summary: "a script that completes commands in bash, zsh or fish",
    examples: ["svc completion bash >> ~/.bashrc", "svc completion fish > ~/.config/fish/completions/svc.fish"],
    run: completion(plainCommands),
  },
]

/** JSON for a terminal or a program; control characters that JSON leaves as they are are written as escapes. */
const jsonText = (value: unknown, isTTY: boolean): string =>
  JSON.stringify(
    value,
    (_name, member: unknown) => (typeof member === "bigint" ? String(member) : member),
    isTTY ? 2 : undefined,
  ).replaceAll(/[\u007f-\u009f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

const contextOf = (
  call: Extract<Call, { kind: "run" }>,
  { env, home, stdout, stderr, readLine, readInput, onInterrupt }: Runtime,
): Context => {
  const plainOutput = variable(env, "NO_COLOR") !== undefined || env["TERM"] === "dumb"
  let shown = 0
  return {
    args: call.args,
    options: call.options,
    flags: call.flags,
    env,
    folder: settingsFolder(env, home),
    note: (line) => stderr.write(`${withoutKeys(plain(line))}\n`),
    progress: (text) => {
      if (!stderr.isTTY) return
      stderr.write(`\r${text.padEnd(shown)}${text === "" ? "\r" : ""}`)
      shown = text.length
    },
    readLine,
    readInput,
    onInterrupt,
    write: stdout.write,
    screen: () => (stdout.isTTY && env["TERM"] !== "dumb" ? stdout.screen?.() : undefined),
    shown: (text) => (stdout.isTTY ? plainLines(text) : text),
    bold: (text) => (stdout.isTTY && !plainOutput ? `\u001b[1m${text}\u001b[22m` : text),
  }
}

// A server's message may be of any length.
const longestMessage = 4000

const failure = (error: unknown): CliError => {
  if (error instanceof CliError) return error
  if (error instanceof SvcError) return serviceFailure(error)
  const reason = error instanceof Error ? error.message : String(error)
  return new CliError("internal-error", `The tool itself failed: ${reason}`)
}

/** Runs one call of the tool and gives its exit code. */
export const run = async (runtime: Runtime): Promise<0 | 1 | 2 | 3> => {
  const { argv, stdout, stderr } = runtime
  const json = wantsJson(argv)
  let help = "Next: svc --help"
  try {
    const call = readArguments(argv, commands)
    if (call.kind === "run") help = `Next: svc ${call.command.name} --help`
    if (call.kind === "version") stdout.write(`${manifest.version}\n`)
    else if (call.kind === "help") stdout.write(`${helpText(call.words, commands)}\n`)
    else {
      const outcome = await call.command.run(contextOf(call, runtime))
      if (outcome === undefined) return 0
      stdout.write(`${json ? jsonText(outcome.json, stdout.isTTY) : outcome.text}\n`)
      return outcome.exit ?? 0
    }
    return 0
  } catch (thrown) {
    const { code, message, next = help, extra, rescued } = failure(thrown)
    const said = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message
    const error = withoutKeys(plain(`${said}${/[.!?)…]$/.test(said) ? "" : "."} ${next}`))
    stderr.write(`svc: ${error} (${plain(code)})\n`)
    if (json) stdout.write(`${jsonText({ error, code, ...extra }, stdout.isTTY)}\n`)
    else if (rescued !== undefined) stdout.write(`${rescued}\n`)
    return code === "usage" ? 2 : 1
  }
}
