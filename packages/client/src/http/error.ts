/** What an error of the relay's send endpoint says about the transaction. */
export type SubmissionState = "not_submitted" | "unknown"

type Facts = {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly docs?: string | undefined
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
 * Besides the codes of the platform and the relay, the library has its own: `network-error` (no response), `timeout` (no
 * response in time), `aborted` (by `signal`), `unexpected-answer` (a response that the service never gives), `before-failed`.
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
  /** The HTTP status; 0 if there was no response or no request. */
  declare readonly status: number
  /** The stable code. */
  declare readonly code: string
  /** What to do next, in one sentence. */
  declare readonly hint?: string
  /** The documentation's row that explains the code. */
  declare readonly docs?: string
  /** Whether the same call may succeed later. */
  declare readonly retryable: boolean
  /** How long to wait before a retry, in milliseconds. */
  declare readonly retryAfterMs?: number
  /** The request's id in the service's log; empty if there was no response. */
  declare readonly requestId: string
  /** Of a send: `not_submitted` proves that the transaction went nowhere; `unknown` proves nothing. */
  declare readonly submissionState?: SubmissionState
  /** Of a send: the transaction's first signature, base58. */
  declare readonly signature?: string
  /** More about the error: `{path, reason}` of a rejected field, or the provider's own error. */
  declare readonly details?: unknown

  constructor({ message, cause, ...facts }: Facts) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "SvcError"
    const given = Object.entries(facts).filter(([, value]) => value !== undefined)
    Object.assign(this, { retryable: false, requestId: "" }, Object.fromEntries(given))
  }
}

/** The same error, with what it says about a transaction. */
export const aboutSubmission = (error: SvcError, submissionState: SubmissionState, signature: string): SvcError => {
  const facts: Facts = error
  const { message, cause } = error
  return new SvcError({ ...facts, message, cause, submissionState, signature })
}

/** An error that the library raises itself. */
export const ownError = (code: string, message: string, more?: Partial<Facts>): SvcError =>
  new SvcError({ status: 0, code, message, ...more })

/** Wraps anything that was thrown as an SvcError. An error of another realm isn't an instance of this one's Error. */
export const asSvcError = (thrown: unknown, code: string, message: string): SvcError =>
  thrown instanceof SvcError
    ? thrown
    : ownError(code, `${message}: ${String((thrown as Error | undefined)?.message ?? thrown)}`, { cause: thrown })
