import type { Readable, Writable } from "node:stream"
import type { Format } from "./output/format.ts"
import type { Style } from "./output/style.ts"
import type { Urls } from "./settings/contexts.ts"
import type { Environment } from "./settings/settings.ts"
import type { ExitCode } from "./usage/help.ts"
import type { OptionName } from "./usage/options.ts"

export type Screen = { readonly columns: number; readonly rows: number }

/** What the process gives to a command as it is. */
export type Inputs = {
  readonly env: Environment
  /** The URLs of the copy of the platform that served this tool, if one did. */
  readonly copy: Urls | undefined
  /** The first line of the standard input; rejects if that is a terminal. */
  readonly readLine: () => Promise<string>
  /** The bytes of a file, or for "-" of the standard input; rejects if that is a terminal. */
  readonly readInput: (file: string) => Promise<Uint8Array>
  /**
   * Calls back once when the user interrupts, or the system ends the session or the process, instead of ending the
   * process. Returns a function that undoes this.
   */
  readonly onInterrupt: (interrupted: (signal?: NodeJS.Signals) => void) => () => void
  /** The standard input and output, for a protocol that uses both, and what ends the process whatever still runs. */
  readonly pipes?: { readonly input: Readable; readonly output: Writable; readonly exitSoon: () => void }
}

/** What a command is given. It uses no global of the process. */
export type Context = Inputs & {
  /** The arguments after the command's own words. */
  readonly args: readonly string[]
  /** Options that take a value, by name without dashes. */
  readonly options: Readonly<Record<string, string>>
  /** Options without a value that were given. */
  readonly flags: ReadonlySet<string>
  /** The folder of the configuration and credentials files. */
  readonly folder: string
  /** What the command prints: text for people, or one JSON document for programs. */
  readonly format: Format
  /** Prints a line for people on the standard error. */
  readonly note: (line: string) => void
  /** Shows progress if the standard error is a terminal; an empty text removes it. */
  readonly progress: (text: string) => void
  /** Clears so many lines of the terminal that were written last. */
  readonly moveUp: (lines: number) => void
  /** Writes to the standard output at once. Returns false when nobody reads it anymore. */
  readonly write: (text: string) => boolean
  /** Writes one of several records as a line of JSON. Returns what `write` returns. */
  readonly writeRecord: (record: unknown) => boolean
  /** Resolves once whoever reads the standard output has taken what was written. */
  readonly taken: () => Promise<unknown>
  /** The size of the standard output's terminal if that can be redrawn; undefined for a pipe. */
  readonly screen: () => Screen | undefined
  readonly style: Style
}

/** What a command prints, and its exit code (default 0). In `json`, a bigint is written as a decimal string. */
export type Outcome<Json = unknown> = {
  readonly json: Json
  /** The same for people. It's only called for the format text. */
  readonly text: (style: Style) => string
  readonly exit?: Exclude<ExitCode, 2>
  /** What mustn't be lost: it's told on the standard error if the output can't be written or nobody reads it. */
  readonly lasting?: string
}

/** Runs a command; undefined, or an exit code, if it has written its output already. */
export type Run = (context: Context) => Promise<Outcome | number | undefined>

type Entry = {
  /** Its arguments, as commander takes them: "<STACK> [VIEW]" or "<STACK...>". */
  readonly usage?: string
  readonly options?: readonly OptionName[]
  readonly summary: string
  readonly details?: string
  readonly examples: readonly string[]
  /** Loads the code only when the command runs, so that every call starts fast. */
  readonly load: () => Promise<Run>
}

/** A title of the help, and its commands by their words. */
export type CommandTable = { readonly title: string; readonly commands: Readonly<Record<string, Entry>> }

export type Command = Entry & { readonly name: string; readonly title: string }
