/** An option that takes a value shows what kind; one without is there or not. */
type Option = { readonly value?: string; readonly help: string; readonly repeats?: true; readonly short?: string }

/** Every option of every command, each with one meaning wherever it is taken. */
export const optionTable = {
  json: { help: "one JSON document on the standard output, nothing else" },
  help: { help: "this text", short: "h" },
  version: { help: "the tool's version", short: "v" },
  "api-url": { value: "URL", help: "the API (SVC_API_URL)" },
  "docs-url": { value: "URL", help: "the documentation server (SVC_DOCS_URL)" },
  "relay-url": { value: "URL", help: "the transaction relay (SVC_RELAY_URL)" },
  stack: { value: "NAME", help: "the stack whose session is used" },
  "websocket-url": {
    value: "URL",
    help: "the stack's WebSocket URL, as svc explore shows it; of a pushed one, where its stream is",
  },
  timeout: { value: "SECONDS", help: "when to stop finding out (180): then exit 3" },
  "last-valid-block-height": { value: "N", help: "of the blockhash that was signed with (the newest one's)" },
  at: { value: "N", help: "that version instead of the current one" },
  from: { value: "N", help: "the older version (the one before --to)" },
  to: { value: "N", help: "the newer version of two (the latest); the one to roll back to (that deployed before)" },
  language: { value: "LANGUAGE", help: "typescript, python or json-schema (typescript)" },
  output: { value: "FILE", help: "write there instead of to the standard output, which is -" },
  visibility: { value: "VISIBILITY", help: "public, global or private (a new stack: private)" },
  branch: { value: "BRANCH", help: "publish as the private stack NAME--BRANCH" },
  wait: { help: "wait until it is done; exit 1 when it ends otherwise" },
  "allow-breaking": { help: "publish even what breaks readers" },
  name: {
    value: "NAME",
    help: "how an agent or a key is called in lists; of a pushed stack, its name in the registry",
  },
  force: { help: "register another agent (the old file is kept as .bak); forget a payment that may still land" },
  id: { value: "NAME", help: "the payment's name: at most one transaction of this name ever lands" },
  journal: { value: "FOLDER", help: "where payments are kept (payments in the settings folder)" },
  save: { help: "keep the new key in place of the kept one, and do not show it" },
  origin: { value: "ORIGIN", help: "the one origin that the key works on, https://app.example" },
  "expires-in-days": { value: "DAYS", help: "1 to 3650" },
  overlap: { value: "TIME", help: "how long the old key goes on: seconds, or 10m, 1h, 7d; 0 for a key that leaked" },
  scope: {
    value: "SCOPE",
    help: "read, transaction:inspect, transaction:send; may be given several times",
    repeats: true,
  },
  limit: { value: "N", help: "results, 1 to 20" },
  cursor: { value: "CURSOR", help: "go on where the last answer ended" },
  key: { value: "KEY", help: "the one record with this key" },
  take: { value: "N", help: "the first N records of the view" },
  watch: { help: "go on: a line for each change of a locked stack, until Ctrl-C" },
  "fail-on": { value: "VERDICT", help: "breaking: exit 1 at the first breaking change" },
  once: { help: "print the records that there are, and end" },
  section: { value: "ANCHOR", help: "one section of the page" },
  "max-tokens": { value: "N", help: "length of the answer, up to 20000" },
  dir: { value: "FOLDER", help: "the project, instead of the folder you are in" },
} as const satisfies Readonly<Record<string, Option>>

export type OptionName = keyof typeof optionTable

export const optionOf = (name: OptionName): Option => optionTable[name]

/** Options that every command takes. */
export const commonOptions: readonly OptionName[] = ["json", "api-url", "docs-url", "help"]

export const isOptionName = (name: string): name is OptionName => Object.hasOwn(optionTable, name)
