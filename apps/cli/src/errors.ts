import type { SvcError } from "@svc/client"
import { keyHint } from "@svc/keys"
import { listOf, textOf } from "./output/json-value.ts"

/**
 * What to do next, by code: the services' codes, where the tool knows it better than their hint, and the tool's own. Every
 * error a person or a program sees ends with it. A code of the tool's without a row points to the command's help.
 */
export const nextSteps: Readonly<Record<string, string>> = {
  "missing-credentials": "Next: svc auth signup, or svc auth login < FILE-WITH-THE-KEY",
  "invalid-authorization-format": "Next: svc auth login < FILE-WITH-THE-KEY",
  "invalid-api-key": "Next: svc auth status; a key that was revoked or lost needs svc auth signup --force",
  "disabled-api-key": "Next: svc auth login < FILE-WITH-ANOTHER-KEY",
  "expired-api-key": "Next: svc auth login < FILE-WITH-ANOTHER-KEY",
  "agent-account-disabled": "Do not retry: the operator has disabled this agent. Next: svc auth status",
  "agent-account-required": "This needs an agent's key (svc_ak_). Next: svc auth signup",
  "secret-key-required": "This needs a secret key (svc_ak_). Next: svc auth login < FILE-WITH-THE-KEY",
  "origin-required": "A publishable key is for browsers. Next: svc auth login < FILE-WITH-A-SECRET-KEY",
  "already-signed-up": "Next: svc auth status; svc auth signup --force registers another agent and keeps the old file",
  "stack-not-found": "Next: svc explore --json",
  "invalid-websocket-url": "Next: svc explore --json lists the websocket_url of every public stack",
  "view-not-found": "Next: svc explore STACK lists the views",
  "key-required": "Next: svc watch STACK VIEW --key KEY",
  "snapshot-limit-exceeded": "Next: svc watch STACK VIEW --take N, with fewer records",
  "agent-account-forbidden": "Next: svc explore --json lists what is open to agents",
  "scope-not-allowed": "Next: svc session --help",
  "invalid-scope": "Next: svc session --help",
  "key-not-found": "Next: svc keys list",
  "too-many-keys": "Next: svc keys list, then svc keys revoke ID",
  "no-home-folder": "Next: set HOME or XDG_CONFIG_HOME to a folder",
  invalid_base64: "Nothing was sent. Next: give the bytes of a signed transaction, raw or as base64",
  invalid_transaction: "Nothing was sent. Next: give the bytes of a signed transaction, raw or as base64",
  transaction_too_large: "Nothing was sent. Next: make the transaction smaller",
  unsigned_transaction: "Nothing was sent. Next: sign it, then run the command again",
  invalid_signature: "Next: svc status SIGNATURE, as svc send printed it",
  "invalid-id": "Next: choose an id of 1 to 200 bytes of printable UTF-8",
  "id-reused": "Nothing was sent. Next: svc payments list; give another payment another --id",
  "wrong-blockhash": "Nothing was sent. Next: use a recent blockhash instead of a durable nonce",
  "other-relay": "Next: name that relay with --relay-url",
  "other-chain": "Next: use the relay of the chain on which the payment was made",
  "payment-open": "Next: svc payments settle ID --stack NAME",
  "payment-not-found": "Next: svc payments list",
  "payment-forgotten": "Next: svc payments list",
  "journal-damaged": "Next: look on the chain whether it was paid, then svc payments forget ID --force",
  "journal-unavailable": "Next: make the journal's folder readable and writable, then run the command again",
  "tool-error": "Next: svc docs search QUERY",
  "version-not-found": "Next: svc versions STACK",
  "invalid-lock": "Next: correct or delete svc.lock.json, then svc lock NAME",
  "unwritable-file": "Next: make the folder writable, or name another file",
  "invalid-config": "Next: correct or delete that setting, then run the command again",
  "config-unwritable": "Next: make the folder writable, or point XDG_CONFIG_HOME to another",
  "credentials-unreadable": "Next: correct or move the file away, then svc auth login < FILE-WITH-THE-KEY",
  "credentials-unwritable": "Next: make the folder writable, or point XDG_CONFIG_HOME to another",
  "credentials-locked": "Next: wait until the other one has ended, or delete the lock file if none runs",
  "key-not-saved": "Next: svc auth login < FILE-WITH-THE-KEY",
  "insecure-url": "Next: use the https:// URL with --api-url or SVC_API_URL",
  "invalid-skill-index": "Nothing was written. Next: check --docs-url",
  "skill-digest-mismatch": "Nothing was written. Next: run svc init again; if it stays, tell the server's operator",
  "skills-unwritable": "Next: make the folder writable, or name another with --dir",
}

type ErrorOptions = {
  /** Replaces the row of the table. */
  readonly next?: string
  /** What the service itself advises, for a code that the table does not have. */
  readonly hint?: string
  /** Members beside `error` and `code` in the JSON answer. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** What a person must get on the standard output all the same. */
  readonly rescued?: string
}

/** A failure with a stable code; the exit code is 2 for `usage` and 1 for all else. */
export class CliError extends Error {
  readonly code: string
  readonly next: string | undefined
  readonly extra: Readonly<Record<string, unknown>>
  readonly rescued: string | undefined

  constructor(code: string, message: string, { next, hint, extra = {}, rescued }: ErrorOptions = {}) {
    super(message)
    this.name = "CliError"
    this.code = code
    this.next = next ?? nextSteps[code] ?? hint
    this.extra = extra
    this.rescued = rescued
  }
}

const mostFaults = 5

/** What a rejected request has to change, as the service says it. */
const faultsOf = (details: unknown): string => {
  const faults = listOf(details, "faults")
  const reasons = (faults.length === 0 ? [details] : faults).map((fault) =>
    `${textOf(fault, "path")} ${textOf(fault, "reason")}`.trim(),
  )
  return reasons.slice(0, mostFaults).join("; ") + (reasons.length > mostFaults ? "; and more" : "")
}

/** What the library throws: the service's code and hint as they are, its own where no response came. */
export const serviceFailure = (error: SvcError, url = ""): CliError => {
  const { code, hint, retryAfterMs, requestId, status } = error
  if (status === 0 && ["network-error", "timeout"].includes(code)) {
    return new CliError("unreachable", `${error.message}.`, {
      next: "Check that it runs, or name another: --relay-url, --api-url",
    })
  }
  if (code === "unexpected-answer" && url !== "") {
    return new CliError(code, `${url} sent a response of status ${status} without an error that can be read.`, {
      next: "Check that this is the URL of the right service",
    })
  }
  const faults = faultsOf(error.details)
  const why = faults === "" ? error.message : `${error.message.replace(/\.$/, "")}: ${faults}`
  const said = status >= 500 && requestId !== "" ? `${why} (request ${requestId})` : why
  if (retryAfterMs !== undefined && (status === 429 || status === 503)) {
    return new CliError(code, said, { next: `Try again in ${Math.ceil(retryAfterMs / 1000)} s` })
  }
  return new CliError(code, said, hint === undefined ? {} : { hint })
}

/** An error in how the tool was called. */
export const usageError = (message: string, command = ""): CliError =>
  new CliError("usage", message, { next: `Next: svc ${command}${command === "" ? "" : " "}--help` })

/** The text without any key in it: an argument, a file or a server's answer may carry one where none belongs. */
export const withoutKeys = (text: string): string => text.replaceAll(/svc_(?:ak|pk|sk)_[0-9A-Za-z]+/g, keyHint)

/** The reason in an error of the operating system, without the stack and the path that the caller names itself. */
export const systemReason = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error)

/** Whether a file is not there; a home folder of /dev/null has none. */
export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemReason(error))
