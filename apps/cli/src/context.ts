import type { Environment } from "./settings/settings.ts"

export type Screen = { readonly columns: number; readonly rows: number }

/** What a command is given; it touches no global of the process. */
export type Context = {
  /** The arguments after the command's own words. */
  readonly args: readonly string[]
  /** Options that take a value, by name without dashes. */
  readonly options: Readonly<Record<string, string>>
  /** Options that are there or not. */
  readonly flags: ReadonlySet<string>
  readonly env: Environment
  /** Where the configuration and credentials files are. */
  readonly folder: string
  /** A line for people, beside the answer. */
  readonly note: (line: string) => void
  /** Shows what is going on where somebody watches; an empty text takes it away. */
  readonly progress: (text: string) => void
  /** The first line of the standard input; rejects when a terminal would have to be asked. */
  readonly readLine: () => Promise<string>
  /** The bytes of a file, or for "-" of the standard input; rejects when a terminal would have to be asked. */
  readonly readInput: (file: string) => Promise<Uint8Array>
  /** Calls back once when the user interrupts, instead of ending; gives what takes that back. */
  readonly onInterrupt: (interrupted: () => void) => () => void
  /** Text from a server for the standard output: as it is, but on a terminal without control characters. */
  readonly shown: (text: string) => string
  /** Writes to the standard output as it goes; false once nobody reads it any more. */
  readonly write: (text: string) => boolean
  /** The size of the terminal that the standard output is and that can redraw; undefined for a pipe. */
  readonly screen: () => Screen | undefined
  /** A heading, in bold where that is welcome. */
  readonly bold: (text: string) => string
}

/** What a command answers: one JSON value, where bigint is written as a decimal string, the same for people, and its exit code (0). */
export type Outcome = { readonly json: unknown; readonly text: string; readonly exit?: 0 | 1 | 3 }
