import { type Environment, variable } from "../settings/settings.ts"

/** How text for people looks. */
export type Style = {
  /** Columns of the terminal; undefined for a pipe or a file. */
  readonly width: number | undefined
  readonly bold: (text: string) => string
  readonly red: (text: string) => string
  readonly cyan: (text: string) => string
}

/** The order in which other tools decide: NO_COLOR, FORCE_COLOR, then whether it's a terminal. */
const hasColor = (env: Environment, isTTY: boolean): boolean => {
  if (variable(env, "NO_COLOR") !== undefined) return false
  const forced = variable(env, "FORCE_COLOR")
  if (forced !== undefined) return forced !== "0" && forced !== "false"
  return isTTY && env["TERM"] !== "dumb"
}

export const styleOf = (env: Environment, isTTY: boolean, columns: number | undefined): Style => {
  const paint = hasColor(env, isTTY)
    ? (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`
    : () => (text: string) => text
  return { width: isTTY ? columns : undefined, bold: paint(1, 22), red: paint(31, 39), cyan: paint(36, 39) }
}
