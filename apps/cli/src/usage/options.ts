import { clientNames } from "../mcp/configurations.ts"

/** Which values an option takes, in an error's words and as a test. */
type Values = { readonly what: string; readonly fits: (text: string) => boolean }

export const languages: readonly string[] = ["typescript", "json-schema"]

const oneOf = (words: readonly string[]): Values => ({
  what: `one of ${words.join(", ")}`,
  fits: (text) => words.includes(text),
})
const wholeNumber: Values = { what: "a whole number of at least 1", fits: (text) => /^[1-9]\d{0,8}$/.test(text) }
const version: Values = { what: "the number of a version", fits: (text) => /^[1-9]\d{0,8}$/.test(text) }
const numberUpTo = (most: number): Values => ({
  what: `a whole number, 1 to ${most}`,
  fits: (text) => /^\d{1,16}$/.test(text) && Number(text) >= 1 && Number(text) <= most,
})

type Option = {
  /** The kind of its value, as the help shows it; missing for a flag. */
  readonly value?: string
  readonly takes?: Values
  readonly help: string
  /** It can be given several times; the values are joined with this. */
  readonly repeats?: " " | "\n"
  readonly short?: string
}

/** Every option of every command. An option means the same in each command that takes it. */
export const optionTable = {
  json: { help: "print one JSON document on stdout, and nothing else" },
  help: { help: "print this help", short: "h" },
  version: { help: "print the tool's version", short: "v" },
  "api-url": { value: "URL", help: "the platform API (SVC_API_URL)" },
  context: { value: "NAME", help: "another copy of the platform than the current one (svc contexts)" },
  "docs-url": { value: "URL", help: "the documentation server (SVC_DOCS_URL)" },
  "relay-url": { value: "URL", help: "the transaction relay (SVC_RELAY_URL)" },
  stack: { value: "NAME", help: "the stack that the session is for" },
  "websocket-url": { value: "URL", help: "the stack's WebSocket URL; for push, the URL of its stream" },
  timeout: {
    value: "SECONDS",
    takes: numberUpTo(86_400),
    help: "give up after this time (default 180) with exit code 3",
  },
  "last-valid-block-height": {
    value: "N",
    takes: numberUpTo(Number.MAX_SAFE_INTEGER),
    help: "the value that came with the transaction's blockhash",
  },
  at: { value: "N", takes: version, help: "that version instead of the current one; --version N means the same" },
  from: { value: "N", takes: version, help: "the older version (default: the one before --to)" },
  to: {
    value: "N",
    takes: version,
    help: "the newer version (default: the latest), or the version to roll back to (default: the one before)",
  },
  language: { value: "LANGUAGE", takes: oneOf(languages), help: "typescript (default) or json-schema" },
  output: { value: "FILE", help: "write to this file; - is stdout" },
  visibility: { value: "VISIBILITY", help: "public, global or private (default for a new stack)" },
  wait: { help: "wait for the result; exit with 1 if it failed. For stream check: wait until a token expires" },
  check: { help: "only say what publishing it would change; any key is enough" },
  "allow-breaking": { help: "publish even if it breaks readers" },
  name: { value: "NAME", help: "the name of the agent or key in lists; for push, the stack's name in the registry" },
  force: {
    help: "sign up although a key is stored (the old file is kept as .bak); forget a payment that may still land",
  },
  id: { value: "NAME", help: "the payment's id: at most one transaction with this id lands" },
  purpose: { value: "TEXT", help: "what the payment is for; another purpose under the same id is rejected" },
  "allow-relay-change": { help: "continue payments that were stored with another relay URL of the same chain" },
  journal: { value: "FOLDER", help: "where payments are stored (default: payments in the settings folder)" },
  save: { help: "store the new key instead of the current one, and don't print it" },
  origin: { value: "ORIGIN", help: "the only origin that may use the key, such as https://app.example" },
  "expires-in-days": { value: "DAYS", takes: numberUpTo(3650), help: "1 to 3650" },
  overlap: { value: "TIME", help: "how long the old key still works: seconds, or 10m, 1h, 7d; 0 if it leaked" },
  scope: { value: "SCOPE", help: "read, transaction:inspect or transaction:send; can be repeated", repeats: " " },
  days: { value: "N", takes: numberUpTo(90), help: "how many days, today included (default 30)" },
  limit: { value: "N", takes: numberUpTo(20), help: "number of results, 1 to 20" },
  cursor: { value: "CURSOR", help: "continue where the last response ended" },
  key: { value: "KEY", help: "only the record with this key" },
  take: { value: "N", takes: numberUpTo(999_999), help: "only the first N records of the view" },
  watch: { help: "continue, and print a line for each change of a locked stack until Ctrl-C" },
  "fail-on": {
    value: "VERDICT",
    takes: { what: "only breaking", fits: (text) => text === "breaking" },
    help: "breaking: exit with 1 at the first breaking change",
  },
  where: {
    value: "CONDITION",
    help: "only records that fulfil it, such as 'amount.lamports>1000000'; can be repeated",
    repeats: "\n",
  },
  for: { value: "SECONDS", takes: numberUpTo(86_400), help: "end after this time" },
  "no-snapshot": { help: "only changes, without the records that are there already" },
  once: { help: "print the current records and exit" },
  config: {
    value: "CLIENT",
    takes: oneOf(clientNames),
    help: `print the configuration for ${clientNames.join(", ")} instead of serving`,
  },
  section: { value: "ANCHOR", help: "only this section of the page" },
  "max-tokens": { value: "N", takes: wholeNumber, help: "maximum length of the response, up to 20000" },
  dir: { value: "FOLDER", help: "the project's folder (default: the current one)" },
} as const satisfies Readonly<Record<string, Option>>

export type OptionName = keyof typeof optionTable

export const optionOf = (name: OptionName): Option => optionTable[name]

export const commonOptions: readonly OptionName[] = ["json", "api-url", "docs-url", "context", "help"]
