// Results of tools: within the limit of tokens, without keys.
import type { CallToolResult } from "@modelcontextprotocol/server"
import { SvcError } from "@svc/client/http"
import { visibleJson } from "@svc/common/foreign-text"
import { withoutKeys } from "@svc/keys"
import { ToolError } from "@svc/mcp"
import { asCliError, CliError } from "../errors.ts"
import { documentFormats } from "../output/format.ts"
import { textOf } from "../output/json-value.ts"
import type { Result } from "./tool.ts"

/** A result has less than 8,000 tokens, at 4 characters each. What isn't a list of records has room in the rest. */
const mostCharacters = 28_000
const longestText = 2000

type AsJson<T> = unknown extends T
  ? unknown
  : T extends bigint
    ? string
    : T extends object
      ? { readonly [K in keyof T]: AsJson<T[K]> }
      : T

/** A value of the tool as JSON: bigints become decimal strings. */
export const plainJson = <T>(value: T): AsJson<T> => JSON.parse(documentFormats.json.record(value ?? null))

const sizeOf = (value: unknown): number => documentFormats.json.record(value).length + 1

/** As many of the first items as fit into a result; `truncated` if that isn't all. */
export const fitting = <Item>(items: readonly Item[], most = mostCharacters) => {
  let room = most
  const past = items.findIndex((item) => (room -= sizeOf(item)) < 0)
  return past === -1 ? { kept: items, truncated: undefined } : { kept: items.slice(0, past), truncated: true }
}

/** What follows the item whose member has this text: a list goes on where its last result was cut. Throws invalid-arguments. */
export const following = <Item>(items: readonly Item[], member: string, after: string | undefined): readonly Item[] => {
  if (after === undefined) return items
  const at = items.findIndex((item) => textOf(item, member) === after)
  if (at !== -1) return items.slice(at + 1)
  throw new CliError("invalid-arguments", `after: the list has no ${member} ${JSON.stringify(after)}.`, {
    next: `Pass the last ${member} of a truncated result; without after, the list begins anew.`,
  })
}

export const shortened = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText)}…` : text)

/** The next step for an agent that has only the tools; the other codes have the service's own hint. */
const hints: Readonly<Record<string, string>> = {
  "missing-credentials":
    "Nothing was done. To publish, a person stores a svc_sk_ key: svc auth login < KEY-FILE. For all else call account with sign_up: true.",
  "invalid-api-key": "The stored key was revoked or lost. A person runs svc auth signup --force",
  "expired-api-key": "The stored key has expired. A person runs svc auth login < FILE-WITH-ANOTHER-KEY",
  "stack-name-taken": "Nothing was published. Pass another name; deleted names stay reserved for 30 days.",
  "stack-not-found": "Call list_stacks.",
  "view-not-found": "Call describe_stack, which lists the views.",
  "entity-not-found": "Call describe_stack without entity.",
  "key-required": "Pass key: the value of the view's key_field, which describe_stack names.",
  "snapshot-limit-exceeded": "Pass key, or a smaller limit without where.",
  unreachable: "Call again later; a person checks with svc env that the URL is right.",
  "payment-not-found": "Call list_payments.",
  aborted: "Nothing was stored or sent. Call the tool again with the same bytes and the same id.",
  "duplicate-transaction":
    "Nothing was sent. The message names the payment that has these bytes: look it up in list_payments. Sign other bytes only to pay a second time.",
  signature_verification_failed:
    "Nothing was sent: a signature isn't of these bytes. Pass them as the wallet returned them.",
  "id-reused": "Nothing was sent. Use another id for another payment; list_payments shows the ids.",
  "other-relay": "A person runs svc payments settle ID --allow-relay-change if the relay has moved.",
  "journal-damaged": "Don't pay again: a person checks on the chain whether it was paid.",
  "already-signed-up": "Call account.",
  "key-not-saved": "Make the settings folder writable, then call the tool again.",
  "tool-error": "Correct the argument that the message names, or call search_docs.",
  "invalid-ast": "Pass the path of an AST.",
  "unreadable-file": "Pass the absolute path of an AST.",
  "invalid-request": "Correct the argument that the message names.",
  invalid_transaction: "Nothing was sent. Pass base64 of a whole transaction.",
  unsigned_transaction: "Nothing was sent: the wallet's signature is missing.",
  invalid_base64: "Nothing was sent. Pass base64 of the standard alphabet, with padding.",
  invalid_signature: "Pass the signature of a result, or of list_payments.",
  "run-waiting": "A person looks at svc runs, or call publish_stack with allow_breaking: true.",
}

/** Details that fit beside the rest of an error; undefined for longer ones. */
export const shownDetails = (details: unknown): unknown => (sizeOf(details) <= longestText ? details : undefined)

/** A service's or the tool's own failure, field by field: an error may carry a new key. */
export const faultOf = (thrown: unknown) => {
  if (thrown instanceof ToolError) {
    const { code, message, hint } = thrown
    return { code, message: shortened(message), hint, retryable: false }
  }
  const error = asCliError(thrown)
  const { code, cause } = error
  const service = cause instanceof SvcError ? cause : undefined
  // This error's own message says that the key is printed, which a tool never does.
  const message = code === "key-not-saved" ? "The new key couldn't be stored, and is lost." : error.message
  const hint =
    hints[code] ??
    service?.hint ??
    error.next?.replace(/(?:^|(?<=\. ))Next: (.)/, (_, letter: string) => letter.toUpperCase())
  return {
    code,
    message: shortened(message),
    ...(hint !== undefined && { hint: shortened(hint) }),
    ...(service?.details !== undefined && { details: shownDetails(service.details) }),
    retryable: service?.retryable ?? code === "unreachable",
    ...(service?.retryAfterMs !== undefined && { retry_after_ms: service.retryAfterMs }),
  }
}

const textBlock = (text: string) => [{ type: "text" as const, text }]

export const failed = (thrown: unknown): CallToolResult => ({
  isError: true,
  content: textBlock(withoutKeys(documentFormats.json.record(faultOf(thrown)))),
})

/** A tool's result, as JSON and as the same in text. */
export const succeeded = ({ structured, text }: Result): CallToolResult => {
  const json = withoutKeys(visibleJson(JSON.stringify(structured)))
  return { content: textBlock(text === undefined ? json : withoutKeys(text)), structuredContent: JSON.parse(json) }
}
