import { withoutKeys } from "@svc/keys"
import manifest from "../package.json" with { type: "json" }
import type { Context, Inputs, Screen } from "./command.ts"
import { asCliError, nextSteps, systemReason } from "./errors.ts"
import { type Format, formatOf, jsonText } from "./output/format.ts"
import { styleOf } from "./output/style.ts"
import { forTerminal, plain } from "./output/table.ts"
import { settingsFolder } from "./settings/settings.ts"
import { withKeptOptions } from "./usage/kept-options.ts"
import { readCall } from "./usage/program.ts"

/** What the process gives to the tool. */
export type Runtime = Inputs & {
  readonly argv: readonly string[]
  /** The user's home folder, if there is one. */
  readonly home: string | undefined
  readonly stdout: {
    readonly isTTY: boolean
    /** Returns false when nobody reads it anymore. */
    readonly write: (text: string) => boolean
    /** Resolves once all is written, with the error if that failed. */
    readonly flush?: () => Promise<Error | undefined>
    readonly screen?: () => Screen | undefined
  }
  readonly stderr: { readonly isTTY: boolean; readonly write: (text: string) => void }
}

/**
 * The standard output. A terminal gets nothing that could steer it, whatever a command writes. One that nobody told its size, such as
 * a container's or a serial console, says 0.
 */
const outputOf = ({ stdout }: Runtime): Runtime["stdout"] => ({
  ...stdout,
  screen: () => {
    const { columns, rows } = stdout.screen?.() ?? {}
    return columns === undefined || rows === undefined ? undefined : { columns: columns || 80, rows: rows || 24 }
  },
  write: (text) => stdout.write(stdout.isTTY ? forTerminal(text) : text),
})

const contextOf = (call: Pick<Context, "args" | "options" | "flags">, format: Format, runtime: Runtime): Context => {
  const { home, stdout: _, stderr, ...inputs } = runtime
  const stdout = outputOf(runtime)
  const { env } = inputs
  let shown = 0
  const screen = () => (stdout.isTTY ? stdout.screen?.() : undefined)
  return {
    ...inputs,
    ...call,
    folder: settingsFolder(env, home),
    format,
    note: (line) => stderr.write(`${withoutKeys(plain(withKeptOptions(line, call)))}\n`),
    progress: (given) => {
      if (!stderr.isTTY) return
      const text = plain(given)
      stderr.write(`\r${text.padEnd(shown)}${text === "" ? "\r" : ""}`)
      shown = text.length
    },
    moveUp: (lines) => void runtime.stdout.write(`\u001b[${lines}F\u001b[J`),
    write: stdout.write,
    writeRecord: (record) => stdout.write(`${jsonText(record)}\n`),
    taken: async () => stdout.flush?.(),
    screen: () => (env["TERM"] === "dumb" ? undefined : screen()),
    style: styleOf(env, stdout.isTTY, screen()?.columns),
  }
}

// A server's message can have any length.
const longestMessage = 4000

const noOptions = { options: {}, flags: new Set<string>() }

/** A call's exit code, the one if its output wasn't written, and what mustn't be lost. */
type Ran = { readonly code: number; readonly unwritten: number; readonly lasting?: string | undefined }

const ran = (code: number): Ran => ({ code, unwritten: code || 1 })

/** Runs one call of the tool and returns its exit code. A reader that stops early (svc explore | head) isn't a failure. */
export const run = async (runtime: Runtime): Promise<number> => {
  const { code, unwritten, lasting } = await runCall(runtime)
  const failure = await runtime.stdout.flush?.()
  if (failure === undefined || (systemReason(failure) === "EPIPE" && lasting === undefined)) return code
  const said = [
    `The standard output can't be written (${systemReason(failure)}).`,
    ...(lasting === undefined ? [] : [lasting]),
  ]
  runtime.stderr.write(`svc: ${withoutKeys(plain(said.join(" ")))}\n`)
  return unwritten
}

// Loaded only for an error: the help doesn't need the code that calls the API.
const environmentStep = async (context: Context | undefined, code: string): Promise<string | undefined> =>
  context && (await import("./settings/key.ts")).environmentKeyStep(context, code)

const runCall = async (runtime: Runtime): Promise<Ran> => {
  const { argv, env, stderr } = runtime
  const stdout = outputOf(runtime)
  const format = formatOf(argv)
  const document = (value: unknown): string => jsonText(value, stdout.isTTY ? 2 : undefined)
  let call: ReturnType<typeof readCall>
  let context: Context | undefined
  try {
    // Not a command: only the completion scripts call it, and what they pass may be incomplete.
    if (argv[0] === "__complete") {
      const { complete } = await import("./usage/completion.ts")
      await complete(contextOf({ args: argv.slice(1), ...noOptions }, "text", runtime))
      return ran(0)
    }
    const style = styleOf(env, stdout.isTTY, stdout.isTTY ? stdout.screen?.()?.columns : undefined)
    call = readCall({ argv, version: manifest.version, style, write: stdout.write })
    if (call === undefined) return ran(0)
    context = contextOf(call, format, runtime)
    const outcome = await (await call.command.load())(context)
    if (outcome === undefined || typeof outcome === "number") return ran(outcome ?? 0)
    stdout.write(`${format === "text" ? outcome.text(context.style) : document(outcome.json)}\n`)
    return { code: outcome.exit ?? 0, unwritten: outcome.exit ?? 1, lasting: outcome.lasting }
  } catch (thrown) {
    const name = call?.command.name
    const help = `Next: svc ${name === undefined ? "" : `${name} `}--help`
    const { code, exit, message, next: usual = help, extra, rescued } = asCliError(thrown)
    // A login sends the key of the standard input.
    const isOfTable = usual === nextSteps[code] && name !== "auth login"
    const next = (isOfTable && (await environmentStep(context, code))) || usual
    const said = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message
    const step = context === undefined ? next : withKeptOptions(next, context)
    const error = withoutKeys(plain(`${said}${/[.!?)…]$/.test(said) ? "" : "."} ${step}`))
    const { red } = styleOf(env, stderr.isTTY, undefined)
    stderr.write(`${red("svc:")} ${error} (${plain(code)})\n`)
    if (format !== "text") stdout.write(`${document({ error, code, ...extra })}\n`)
    else if (rescued !== undefined) stdout.write(`${rescued}\n`)
    const lasting = rescued === undefined ? undefined : "Nobody has seen the key. Next: create another one"
    return { ...ran(exit), lasting }
  }
}
