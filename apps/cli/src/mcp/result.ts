// Results of tools: within the limit of tokens, without keys.
import type { CallToolResult } from "@modelcontextprotocol/server"
import { SvcError } from "@svc/client/http"
import { visibleJson } from "@svc/common/foreign-text"
import { withoutKeys } from "@svc/keys"
import { ToolError } from "@svc/mcp"
import { asCliError, saysUnsent } from "../errors.ts"
import { jsonText } from "../output/format.ts"
import type { Result } from "./tool.ts"

/** A result has less than 8,000 tokens, at 4 of these characters each. What isn't a list of records has room in the rest. */
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
export const plainJson = <T>(value: T): AsJson<T> => JSON.parse(jsonText(value ?? null))

/** A token has about 4 characters of English or JSON, but less than 2 of an address, a signature or Chinese: those count three times. */
const sizeOf = (item: unknown): number => jsonText(item).replaceAll(/\w{32,}|[^ -~]/g, "$&$&$&").length + 1

/** As many of the first items as fit into a result; `truncated` if that isn't all. */
export const fitting = <Item>(items: readonly Item[], most = mostCharacters) => {
  let room = most
  const past = items.findIndex((item) => (room -= sizeOf(item)) < 0)
  return past === -1 ? { kept: items, truncated: undefined } : { kept: items.slice(0, past), truncated: true }
}

/** What follows the item whose member has this text: a list goes on where its last result was cut. Throws invalid-arguments. */
export const following = <Item>(
  items: readonly Item[],
  member: keyof Item & string,
  after: string | undefined,
): readonly Item[] => {
  if (after === undefined) return items
  const at = items.findIndex((item) => item[member] === after)
  if (at !== -1) return items.slice(at + 1)
  const hint = `Pass the last ${member} of a truncated result; without after, the list begins anew.`
  throw new ToolError("invalid-arguments", `after: the list has no ${member} ${JSON.stringify(after)}.`, hint)
}

/** The hint of a list that was cut. */
export const forMore = (member: string): string => `Pass the last ${member} as after for more.`

export const shortened = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText)}…` : text)

const askOperator = "Ask a person to tell the operator what the message says."
// The environment's key, which a client may set, is the one in use.
export const otherKey = "svc auth login < KEY-FILE, or SVC_API_KEY where the client sets it"
const askForKey = `Ask a person to store another key: ${otherKey}.`
const orOperator = "If it fails again, ask a person to tell the operator what the message says."
const checkUrls = "Ask a person to check this copy's URLs: svc env."
const laterOrUrls =
  "Call the tool again later with the same arguments. If it fails again, ask a person to check this copy's URLs: svc env."
const waitFirst = "Wait retry_after_ms milliseconds, then call the tool again with the same arguments."
const cannotWrite =
  "Ask a person to make svc's settings folder writable or to free space on its disk, then call the tool again with the same arguments."

/** The next step for an agent that has only the tools, for codes whose other advice is for a shell, a file or a program. */
export const hints: Readonly<Record<string, string>> = {
  "missing-credentials": "Nothing was done. Call account with sign_up: true.",
  "invalid-authorization-format": askForKey,
  "invalid-api-key": `Ask a person to store another key of the account (${otherKey}) or, for a new agent, to run svc auth signup --force.`,
  "expired-api-key": `The key has expired. ${askForKey}`,
  "disabled-api-key": "Ask a person to enable the key with another key of the account: svc keys enable ID.",
  "secret-key-required": askForKey,
  "origin-required": askForKey,
  "agent-account-required": `Ask a person to store an agent's key (svc_ak_): ${otherKey}.`,
  "agent-account-disabled": askOperator,
  "key-replaced": `Ask a person to store the key's successor: ${otherKey}.`,
  "agent-account-forbidden": "Don't call again. Agents may read public stacks; for all else ask a person.",
  // A stack that had a relay a moment ago; the scopes are the tools' own.
  "scope-not-allowed": `Call the tool again. ${orOperator}`,
  "invalid-scope": askOperator,
  "stack-name-taken": "Nothing was published. Pass another name; deleted names stay reserved for 30 days.",
  "stack-not-found": "Call list_stacks.",
  "invalid-websocket-url": "Call list_stacks.",
  "view-not-found": "Call describe_stack, which lists the views.",
  "entity-not-found": "Call describe_stack without entity.",
  "invalid-message": "Correct the argument that the message names.",
  "key-required": "Pass key: the value of the view's key_field, which describe_stack names.",
  "snapshot-limit-exceeded": "Pass key, or a smaller limit without where.",
  "snapshot-too-large": "Pass key, or a smaller limit without where.",
  unreachable: laterOrUrls,
  "unexpected-answer": laterOrUrls,
  // The relay and the documentation server know no other cause: their paths are the tools' own.
  not_found: "Ask a person whether this copy's URLs, which account shows, are right, and its relay is enabled.",
  request_too_large: "Pass shorter arguments.",
  "internal-error": `Call the tool again later. ${orOperator}`,
  internal_error: `Call the tool again later. ${orOperator}`,
  "outcome-unknown": "It may be done or not. Call the tool again: nothing is done twice.",
  "service-unavailable": waitFirst,
  "rate-limit-exceeded": waitFirst,
  rate_limit_exceeded: waitFirst,
  server_busy: waitFirst,
  auth_unavailable: waitFirst,
  "payment-not-found": "Call list_payments.",
  "payment-forgotten": "Call list_payments.",
  "payment-open": "Call settle_payments with this id.",
  "payload-too-large": "Pass a smaller AST.",
  aborted: "Nothing was stored or sent. Call the tool again with the same bytes and the same id.",
  "lookup-failed": "Call the tool again with the same arguments.",
  "duplicate-transaction":
    "Nothing was sent. The message says what has this transaction: look in list_payments, and at the wallet's other signature. Sign other bytes only to pay a second time.",
  "durable-nonce":
    "Nothing was sent. Sign it with a recent blockhash, which get_fee gives, instead of a durable nonce.",
  signature_verification_failed:
    "Nothing was sent: a signature isn't of these bytes. Pass them as the wallet returned them.",
  submission_unknown: "Call submit_payment with the same id and bytes, or settle_payments. Sign nothing else for it.",
  "invalid-id":
    "Nothing was sent. Pass an id of 1 to 200 bytes of printable UTF-8 in the normal form NFC, with spaces only inside.",
  "id-reused":
    "Nothing was sent. If only the words of purpose differ, pass the stored purpose or none. Use another id for another payment; list_payments shows the ids.",
  // The tool looked for the name before it took it.
  "spec-name-taken": "Another call has just created this stack: call publish_stack again with the same arguments.",
  "other-relay": "Ask a person to run svc payments settle ID --stack NAME --allow-relay-change if the relay has moved.",
  "other-chain": "Ask a person to set the relay of the chain on which the payment was made.",
  "journal-damaged": "Don't pay again: ask a person to check on the chain whether it was paid.",
  "journal-unavailable": cannotWrite,
  "already-signed-up": "Call account.",
  "key-not-saved": cannotWrite,
  "credentials-unwritable": cannotWrite,
  "tool-error": "Correct the argument that the message names, or call search_docs.",
  "mcp-error": "Correct the argument that the message names, or call search_docs.",
  "invalid-ast": "Pass the path of an AST.",
  "unreadable-file": "Pass the absolute path of an AST.",
  "invalid-request": "Correct the argument that the message names.",
  invalid_request: "Correct the argument that the message names.",
  invalid_transaction: "Nothing was sent. Pass base64 of a whole transaction.",
  transaction_too_large: "Nothing was sent. Pass a smaller transaction.",
  unsigned_transaction: "Nothing was sent: the wallet's signature is missing.",
  invalid_base64: "Nothing was sent. Pass base64 of the standard alphabet, with padding.",
  invalid_signature: "Pass the signature of a result, or of list_payments.",
  upstream_unavailable: `Call the tool again with the same bytes. ${orOperator}`,
  "run-waiting": "Ask a person to look at svc runs, or call publish_stack with allow_breaking: true.",
}

/** Advice for a shell, or for a program that calls the API. */
const isForPerson = (advice: string): boolean =>
  /\bsvc [a-z]|(?:^|\s)--[a-z]|\b(?:GET|POST|PUT|DELETE) \/|\b[A-Z]+_[A-Z]|\bcurl\b|\bheader\b|Retry-After|\bthe operator\b/.test(
    advice,
  )

const asked = (advice: string): string =>
  advice.startsWith("Ask ") ? `Ask a person to ask ${advice.slice(4)}` : `Ask a person to do this: ${advice}`

/**
 * The next step for an agent that has only the tools.
 * @param advice a service's; `own` is the tool's, for a person at a shell
 */
export const hintFor = (code: string, advice: string | undefined, own?: string): string => {
  const known = hints[code]
  if (known !== undefined) return known
  if (advice !== undefined && advice !== "") return isForPerson(advice) ? asked(advice) : advice
  const step = own?.replace(/(?:^|(?<=\. ))Next: /, "") ?? ""
  return step === "" ? "Correct what the message names, then call the tool again." : asked(step)
}

/** Details that fit beside the rest of an error; undefined for longer ones. */
export const shownDetails = (details: unknown): unknown =>
  jsonText(details).length < longestText ? details : undefined

/** A failed payment, with what is known of its transaction. */
export class PaymentFailure extends Error {
  readonly known: string

  constructor(cause: unknown, known: string) {
    super("", { cause })
    this.known = known
  }
}

/** A service's or the tool's own failure, field by field: an error may carry a new key. */
export const faultOf = (thrown: unknown): ReturnType<typeof plainFault> => {
  if (!(thrown instanceof PaymentFailure)) return plainFault(thrown)
  const fault = plainFault(thrown.cause)
  // That the payment may be open is never said by the error itself.
  const isSaid = thrown.known.startsWith("Nothing") && saysUnsent(fault.message, fault.hint)
  return isSaid ? fault : { ...fault, hint: `${thrown.known} ${fault.hint}` }
}

const plainFault = (thrown: unknown) => {
  if (thrown instanceof ToolError) {
    const { code, message, hint } = thrown
    return { code, message: shortened(message), hint, retryable: code === "unreachable" }
  }
  const error = asCliError(thrown)
  const { code, cause } = error
  const service = cause instanceof SvcError ? cause : undefined
  // This error's own message says that the key is printed, which a tool never does.
  const message = code === "key-not-saved" ? "The new key couldn't be stored, and is lost." : error.message
  const later = service?.retryAfterMs === undefined ? undefined : waitFirst
  const isFinal = code === "unexpected-answer" && service?.retryable !== true
  const hint = isFinal ? checkUrls : hintFor(code, service?.hint || error.hint || later, error.next)
  return {
    code,
    message: shortened(message),
    hint: shortened(hint),
    ...(service?.details !== undefined && { details: shownDetails(service.details) }),
    retryable: service?.retryable ?? code === "unreachable",
    ...(service?.retryAfterMs !== undefined && { retry_after_ms: service.retryAfterMs }),
  }
}

const textBlock = (text: string) => [{ type: "text" as const, text }]

export const failed = (thrown: unknown): CallToolResult => ({
  isError: true,
  content: textBlock(withoutKeys(jsonText(faultOf(thrown)))),
})

export const succeeded = ({ structured, text }: Result): CallToolResult => {
  const json = withoutKeys(visibleJson(JSON.stringify(structured)))
  return { content: textBlock(text === undefined ? json : withoutKeys(text)), structuredContent: JSON.parse(json) }
}
