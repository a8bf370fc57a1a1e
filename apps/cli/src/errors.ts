import { SvcError } from "@svc/client/http"
import { isObject } from "@svc/common/json-object"
import type { Service } from "./settings/settings.ts"
import type { ExitCode } from "./usage/help.ts"

const loginWithKey = "Next: svc auth login < KEY-FILE"
const rightUrls =
  "Next: svc env; check that --relay-url and --api-url name the right services, and that the relay is enabled"
const signedBytes = "Nothing was sent. Next: pass the bytes of a signed transaction, raw or as base64"

/**
 * The next step by code: for codes of the services where the tool knows more than their hint, and for the tool's own codes. Every
 * error ends with it. For other codes it is the service's hint, or the command's help.
 */
export const nextSteps: Readonly<Record<string, string>> = {
  "not-found": rightUrls,
  not_found: rightUrls,
  "missing-credentials": "Next: svc auth signup, or svc auth login < KEY-FILE",
  "invalid-authorization-format": loginWithKey,
  "invalid-api-key":
    "Next: svc auth login < FILE-WITH-ANOTHER-KEY. If none is left: svc auth signup --force for a new agent; a person asks the operator",
  "disabled-api-key": "Next: svc auth login < FILE-WITH-ANOTHER-KEY, then svc keys enable ID",
  "expired-api-key": "Next: svc auth login < FILE-WITH-ANOTHER-KEY",
  "agent-account-disabled": "Don't retry: the operator has disabled this agent. Next: svc auth status",
  "agent-account-required": "Use an agent's key (svc_ak_). Next: svc auth signup",
  "secret-key-required": "Use a secret key (svc_ak_). Next: svc auth login < KEY-FILE",
  "origin-required": "A publishable key only works in browsers. Next: svc auth login < FILE-WITH-A-SECRET-KEY",
  "already-signed-up": "Next: svc auth status; svc auth signup --force registers another agent and keeps the old file",
  "stack-not-found": "Next: svc explore --json",
  "invalid-websocket-url": "Next: svc explore --json lists the websocket_url of every public stack",
  "agent-account-forbidden": "Next: svc explore --json lists what agents may read",
  "scope-not-allowed": "Next: svc session --help",
  "invalid-scope": "Next: svc session --help",
  "key-not-found": "Next: svc keys list",
  "too-many-keys": "Next: svc keys list, then svc keys revoke ID",
  "no-home-folder": "Next: set HOME or XDG_CONFIG_HOME to a folder",
  invalid_base64: signedBytes,
  invalid_transaction: signedBytes,
  transaction_too_large: "Nothing was sent. Next: make the transaction smaller",
  unsigned_transaction: "Nothing was sent. Next: sign it, then run the command again",
  signature_verification_failed: "Next: sign it after its last change, then run the command again",
  "lookup-failed": "Next: run the same command again",
  upstream_rpc_error: "Next: correct what the provider names; if it isn't yours to correct, tell the relay's operator",
  upstream_unavailable: "Next: run the same command again; if it fails again, tell the relay's operator",
  "invalid-ast": "Next: make the AST smaller where the message says: use fewer fields or types, or shorter names",
  invalid_signature: "Next: svc status SIGNATURE --stack NAME, with the signature that the send printed",
  "invalid-id":
    "Nothing was sent. Next: choose an id of 1 to 200 bytes of printable UTF-8 in the normal form NFC, with no white space but spaces between other characters",
  "id-reused":
    "Next: svc payments list; if only the words of --purpose differ, pass the stored ones or none; use another --id for another payment",
  "spec-name-taken": "Another command has just created this stack. Next: run the same command again",
  "durable-nonce": "Nothing was sent. Next: sign it with a recent blockhash instead of a durable nonce",
  "other-relay": "Next: set that relay with --relay-url; if it has moved, add --allow-relay-change",
  "other-chain": "Next: use the relay of the chain on which the payment was made",
  "payment-open": "Next: svc payments settle ID --stack NAME",
  "payment-not-found": "Next: svc payments list",
  "payment-forgotten": "Next: svc payments list",
  "journal-damaged": "Next: check on the chain whether it was paid, then svc payments forget ID --force",
  "journal-unavailable":
    "Next: make the journal's folder readable and writable, or free space on its disk, then run the command again",
  "tool-error": "Next: svc docs search QUERY",
  "version-not-found": "Next: svc versions STACK",
  "spec-not-found": "Next: svc specs",
  "build-not-found": "Next: svc builds",
  "deployment-not-found": "Next: svc deployments",
  "run-not-found": "Next: svc runs",
  "build-state": "Next: svc builds ID",
  "deployment-state": "Next: svc deployments ID",
  "run-state": "Next: svc runs ID",
  "spec-deployed": "Next: svc deployments stop ID --wait",
  "deployment-active": "Next: svc deployments stop ID --wait",
  "stack-name-taken": "Deleted names stay reserved for 30 days. Next: svc push FILE with another --name",
  "websocket-url-taken": "Next: svc push FILE with another --websocket-url",
  "invalid-lock": "Next: correct or delete svc.lock.json, then svc lock NAME",
  "unwritable-file": "Next: make the folder writable, or use another file",
  "invalid-config": "Next: correct or delete that setting, then run the command again",
  "context-not-found": "Next: svc contexts",
  "config-unwritable": "Next: make the folder writable, or set XDG_CONFIG_HOME to another",
  "credentials-unreadable": "Next: correct or move the file, then svc auth login < KEY-FILE",
  "credentials-unwritable":
    "Next: make the folder writable, free space on its disk, or set XDG_CONFIG_HOME to another folder",
  "credentials-locked": "Next: wait until the other process ends; if none runs, delete the lock",
  "key-not-saved": loginWithKey,
  "insecure-url": "Next: use an https:// URL with --api-url or SVC_API_URL",
  "invalid-skill-index": "Nothing was written. Next: check --docs-url",
  "skill-digest-mismatch":
    "Nothing was written. Next: run svc init again; if it still fails, tell the server's operator",
  "skills-unwritable": "Next: make the folder writable, or set another with --dir",
}

type ErrorOptions = {
  /** Replaces the table's next step. */
  readonly next?: string
  /** The service's own advice, for a code without a row in the table. */
  readonly hint?: string
  /** Members of the JSON output besides `error` and `code`. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** A new key that couldn't be stored: it's printed on stdout, because nobody can get it again. */
  readonly rescued?: string
  /** What a service or svc-client said. */
  readonly cause?: unknown
}

/** A failure with a stable code. The exit code is 2 for wrong usage, else 1, unless it is set to that of an unknown outcome. */
export class CliError extends Error {
  readonly code: string
  exit: Exclude<ExitCode, 0>
  readonly next: string | undefined
  readonly hint: string | undefined
  readonly extra: Readonly<Record<string, unknown>>
  readonly rescued: string | undefined

  constructor(code: string, message: string, { next, hint, extra = {}, rescued, cause }: ErrorOptions = {}) {
    super(message, { cause })
    this.name = "CliError"
    this.code = code
    // Only an argument has a signature: no later look-up finds one that isn't valid.
    this.exit = code === "usage" || code === "invalid_signature" ? 2 : 1
    this.next = next ?? nextSteps[code] ?? hint
    this.hint = hint
    this.extra = extra
    this.rescued = rescued
  }
}

/** The error at the end of a chain of causes. If several addresses were tried, the first one's. */
const innermost = (error: unknown): unknown => {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error instanceof Error && error.cause
  return inner instanceof Error ? innermost(inner) : error
}

const serviceNames = { api: "The API", docs: "The documentation server", relay: "The relay" } as const

const unknownAuthority = "Set NODE_EXTRA_CA_CERTS to the file of its authority's root certificate"
const noTls = "Use http:// or its TLS port"
/** The next step for a service that runs. */
const tlsSteps: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
}

/** The error for a service that sent no response. */
export const unreachable = (error: unknown, service: Service, url: string): CliError => {
  if (error instanceof CliError) return error
  const last = innermost(error)
  const step = tlsSteps[String(Object(last).code)] ?? `Check that it runs (curl ${url}/health)`
  const reason = last instanceof Error ? last.message : systemReason(last)
  return new CliError("unreachable", `${serviceNames[service]} at ${url} can't be reached: ${reason}.`, {
    next: `${step}, or set another URL with --${service}-url or SVC_${service.toUpperCase()}_URL`,
    cause: error,
  })
}

const mostFaults = 5

type Fault = { readonly path?: string; readonly reason?: string }
/** The provider's own error, which the relay passes on. */
type ProviderError = { readonly code?: unknown; readonly message?: unknown }

/** What a rejected request must change, or the provider's words, unless the message says it already. */
const faultsOf = (details: unknown, message: string): string => {
  // The platform's errors have these members. Their codes decide which.
  const given: Fault & ProviderError & { readonly faults?: readonly Fault[] } = isObject(details) ? details : {}
  const { faults, code, message: said, ...own } = given
  const providers = typeof code === "number" && typeof said === "string" ? [`${said} (${code})`] : []
  const all: readonly Fault[] = Array.isArray(faults) && faults.length > 0 ? faults : [own]
  const unsaid = all.filter(({ reason = "" }) => reason === "" || !message.includes(reason))
  const reasons = [...providers, ...unsaid.map(({ path = "", reason = "" }) => `${path} ${reason}`.trim())].filter(
    (one) => one !== "" && !message.includes(one),
  )
  return reasons.slice(0, mostFaults).join("; ") + (reasons.length > mostFaults ? "; and more" : "")
}

/** A service's next step, unless it names a part of the response that svc doesn't show. */
const shownHint = ({ hint = "" }: Pick<SvcError, "hint">): string | undefined =>
  /^$|details|retryable|Retry-After/.test(hint) ? undefined : hint

export const stepAfter = (error: Pick<SvcError, "code" | "hint">): string | undefined =>
  nextSteps[error.code] ?? shownHint(error)

/** What an error says, with what its details add. */
export const saidBy = ({ message, details }: Pick<SvcError, "message" | "details">): string => {
  const faults = faultsOf(details, message)
  const start = message.replace(/\.$/, "")
  if (faults.startsWith(start)) return faults
  return faults === "" ? message : `${start}: ${faults}`
}

/**
 * What svc-client throws, as an error of the tool: the service's code, message, hint, wait and request id are kept, and for
 * programs the URL of the row that explains the code.
 */
export const serviceFailure = (error: SvcError): CliError => {
  const { code, docs, retryAfterMs, requestId, status, message, cause } = error
  const hint = shownHint(error)
  // The tool's own transport says why there is no response.
  if (cause instanceof CliError) return cause
  if (status === 0 && ["network-error", "timeout"].includes(code)) {
    return new CliError("unreachable", `${message}.`, {
      next: "Check that it runs, or set another URL with --api-url or --relay-url",
      cause: error,
    })
  }
  const later = `Try again ${retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1000)} s`}`
  if (code === "unexpected-answer") {
    const start = error.retryable ? `${later}, or check` : "Check"
    return new CliError(code, `${message}.`, {
      next: `${start} that this is the URL of the right service`,
      cause: error,
    })
  }
  const why = saidBy(error)
  const said = status >= 500 && requestId !== "" ? `${why} (request ${requestId})` : why
  const extra = docs === undefined ? {} : { docs }
  if (retryAfterMs !== undefined && (status === 429 || status === 503)) {
    return new CliError(code, said, { next: later, extra, cause: error })
  }
  return new CliError(code, said, { extra, cause: error, ...(hint !== undefined && { hint }) })
}

/** Anything that was thrown, as an error of the tool. */
export const asCliError = (error: unknown): CliError => {
  if (error instanceof CliError) return error
  if (error instanceof SvcError) return serviceFailure(error)
  const reason = (error instanceof Error ? error.message : String(error)).replace(/\.?$/, ".")
  const next = "Next: svc env; check that these are the URLs of the right services, and that the versions fit"
  return new CliError("internal-error", `svc failed, or a service sent a response of another form: ${reason}`, { next })
}

/** For `catch`: throws the error with exit code 3, because what became of a transaction isn't known; wrong usage keeps its own. */
export const withUnknownOutcome = (thrown: unknown): never => {
  const error = asCliError(thrown)
  if (error.exit === 1) error.exit = 3
  throw error
}

/** For `catch`: handles errors of the tool and of services with this code, or with any if it is undefined. Throws all others on. */
export const onCode =
  <Value>(code: string | undefined, handle: (error: CliError) => Value) =>
  (thrown: unknown): Value => {
    const error = thrown instanceof SvcError ? serviceFailure(thrown) : thrown
    if (error instanceof CliError && error.code === (code ?? error.code)) return handle(error)
    throw error
  }

/** For `catch`: throws the operating system's errors with this code and problem, and the tool's own as they are. */
export const asCode =
  (code: string, problem: (reason: string) => string) =>
  (error: unknown): never => {
    throw error instanceof CliError ? error : new CliError(code, `${problem(systemReason(error))}.`)
  }

/** Whether the texts of an error of a payment say already that nothing was sent. */
export const saysUnsent = (...texts: readonly (string | undefined)[]): boolean =>
  /nothing was|sent nothing/i.test(texts.join(" "))

/** An error in how the tool was called. It refers to the help of `words`, by default to that of the command that runs. */
export const usageError = (message: string, words?: string): CliError =>
  new CliError("usage", message, words === undefined ? {} : { next: `Next: ${`svc ${words}`.trimEnd()} --help` })

/** The reason in an error of the operating system, without the stack and the path. */
export const systemReason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return "code" in error && typeof error.code === "string" ? error.code : error.message
}

/** Whether a file doesn't exist. A home folder of /dev/null contains none. */
export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemReason(error))
