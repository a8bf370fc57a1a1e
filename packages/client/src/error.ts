/** What an error of the relay's send route says about the transaction. */
export type SubmissionState = "not_submitted" | "unknown"

type Facts = {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly retryable?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
  readonly submissionState?: SubmissionState | undefined
  readonly signature?: string | undefined
  readonly details?: unknown
  readonly cause?: unknown
}

/**
 * Every failure of this library. Decide by `code`, which is stable, never by `message`.
 *
 * Beside the codes of the platform and the relay there are its own: `network-error` (no answer came), `timeout` (none in
 * time), `aborted` (the caller's signal), `unexpected-answer` (an answer that is not the service's), `before-failed`.
 *
 * @example
 * try {
 *   await relay.simulate({ transaction })
 * } catch (error) {
 *   if (error instanceof SvcError && error.code === "insufficient_scope") console.error(error.hint)
 *   else throw error
 * }
 */
export class SvcError extends Error {
  /** The HTTP status; 0 where no answer came, or nothing was asked. */
  declare readonly status: number
  /** The stable code. */
  declare readonly code: string
  /** The next step in one sentence, where the service gives one. */
  declare readonly hint?: string
  /** Whether the same call may succeed later. */
  declare readonly retryable: boolean
  /** How long the service asks to wait, in milliseconds. */
  declare readonly retryAfterMs?: number
  /** The service's name for the request, for its operator; empty where no answer came. */
  declare readonly requestId: string
  /** Of a send: `not_submitted` is proof that nobody was given the transaction; `unknown` proves nothing. */
  declare readonly submissionState?: SubmissionState
  /** Of a send: the transaction's first signature, base58. */
  declare readonly signature?: string
  /** What the service tells beside: `{path, reason}` of a refused field, or the provider's own error. */
  declare readonly details?: unknown

  constructor({ message, cause, ...facts }: Facts) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "SvcError"
    const given = Object.entries(facts).filter(([, value]) => value !== undefined)
    Object.assign(this, { retryable: false, requestId: "" }, Object.fromEntries(given))
  }
}

/** The same error, with what it means for a transaction. */
export const aboutSubmission = (error: SvcError, submissionState: SubmissionState, signature: string): SvcError => {
  const facts: Facts = error
  const { message, cause } = error
  return new SvcError({ ...facts, message, cause, submissionState, signature: error.signature ?? signature })
}

/** An error of this library's own, made before anything was asked. */
export const ownError = (code: string, message: string, more: Partial<Facts> = {}): SvcError =>
  new SvcError({ status: 0, code, message, ...more })

/** What was thrown, as an error of this library. */
export const asSvcError = (thrown: unknown, code: string, message: string): SvcError =>
  thrown instanceof SvcError
    ? thrown
    : ownError(code, `${message}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown })
