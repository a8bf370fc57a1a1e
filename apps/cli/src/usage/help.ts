import type { Command as Program } from "commander"
import type { Style } from "../output/style.ts"

const settings = [
  ["SVC_API_URL", "the platform API"],
  ["SVC_DOCS_URL", "the documentation server"],
  ["SVC_RELAY_URL", "the transaction relay"],
  ["SVC_API_KEY", "a key for SVC_API_URL, used instead of the stored one"],
  ["HTTP_PROXY, HTTPS_PROXY", "the proxy; this machine is reached without it"],
  ["NO_PROXY", "hosts that are reached without the proxy"],
  ["NO_COLOR, FORCE_COLOR", "turn colors off, or on"],
] as const
/** Each exit code with its meaning. */
export const exits = [
  ["0", "done"],
  ["1", "failed; with --json, stdout is {error, code}"],
  ["2", "wrong usage"],
  ["3", "undecided (send, payments settle, status)"],
] as const
/** An exit code that the help explains. */
export type ExitCode = (typeof exits)[number][0] extends `${infer Code extends number}` ? Code : never
const order =
  "Options come first, then the environment, then --context or the current context (svc contexts). svc env shows the URLs in use."
const firstSteps = "First steps: svc init, svc explore, svc auth signup. svc COMMAND --help shows a command's options."

/** What the help of the whole tool says after its commands. */
export const environmentHelp = (program: Program, { bold, cyan, width }: Style): string => {
  const helper = program.createHelp()
  helper.prepareContext({ helpWidth: Math.min(width ?? 100, 100) })
  const rows = (items: readonly (readonly [string, string])[], term: number): string =>
    items.map(([name, text]) => helper.formatItem(cyan(name), term, text, helper)).join("\n")
  const paragraph = (text: string): string => helper.boxWrap(text, helper.helpWidth ?? 100)
  return [
    `\n${bold("Environment:")}\n${rows(settings, 23)}`,
    paragraph(order),
    `${bold("Exit codes:")}\n${rows(exits, 1)}`,
    paragraph(firstSteps),
  ].join("\n\n")
}
