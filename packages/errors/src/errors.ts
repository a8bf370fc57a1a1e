/** The statuses that errors of a service can have. */
export type ErrorStatus =
  | (400 | 401 | 403 | 404 | 405 | 408 | 409 | 412 | 413 | 415 | 422 | 429)
  | (500 | 501 | 502 | 503 | 504)

/** One line of a service's error table. */
export type ErrorRow = {
  /** HTTP status of every answer with this code. */
  readonly status: ErrorStatus
  /** Text for people; the default when `fail` is given none. */
  readonly message: string
  /** What the caller can do about it. */
  readonly hint?: string
  /** Whether the same request may succeed later, where that is fixed for the code. */
  readonly retryable?: boolean
}

/** What one occurrence of an error adds to its row. */
export type ErrorOptions = {
  readonly message?: string | undefined
  readonly hint?: string | undefined
  readonly retryable?: boolean
  /** Shown to the caller: never put a secret or another system's text here. */
  readonly details?: unknown
  /** Whole seconds, for `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** For the log alone. */
  readonly cause?: unknown
}

/** A refusal that a service decided on: a row of its table, and what this occurrence adds. */
export class ApiError<Code extends string = string> extends Error {
  override readonly name = "ApiError"
  readonly code: Code
  readonly status: ErrorStatus
  readonly hint: string | undefined
  readonly retryable: boolean | undefined
  readonly details: unknown
  readonly retryAfterSeconds: number | undefined
  /** What its response needs, `Retry-After` too. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: Code, row: ErrorRow, options: ErrorOptions = {}) {
    super(options.message ?? row.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = row.status
    this.hint = options.hint ?? row.hint
    this.retryable = options.retryable ?? row.retryable
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
    const wait = this.retryAfterSeconds !== undefined && { "Retry-After": String(this.retryAfterSeconds) }
    this.headers = { ...options.headers, ...wait }
  }
}

type Texts = readonly [message: string, hint: string, retryable?: boolean]

/** The rows of one status: of each code its message, the next step, and whether the same request may succeed later. */
export const withStatus = <const Status extends ErrorStatus, Code extends string>(
  status: Status,
  rows: Readonly<Record<Code, Texts>>,
) =>
  Object.fromEntries(
    Object.entries<Texts>(rows).map(([code, [message, hint, retryable = false]]) => [
      code,
      { status, message, retryable, hint },
    ]),
  ) as Record<Code, ErrorRow & { readonly status: Status }>

/**
 * The row of the documentation that explains a code.
 * @param docsUrl without a slash at the end; empty for the documentation server itself
 */
export const explanationOf = (docsUrl: string, service: "platform" | "relay" | "docs", code: string): string =>
  `${docsUrl}/errors.md#${service}-${code}`

/**
 * Makes a service's error table, the one place where codes, statuses and texts are written.
 * Only codes of the table can be raised through the result's `fail`.
 * @example
 * ```ts
 * const errors = defineErrors({ "not-found": { status: 404, message: "Nothing is here." } })
 * throw errors.fail("not-found", { details: { path: "id", reason: "isn't known" } })
 * ```
 */
export const defineErrors = <const Rows extends Record<string, ErrorRow>>(rows: Rows) => ({
  rows,
  /** Makes the error of a row; throw what it returns. */
  fail: <Code extends Extract<keyof Rows, string>>(code: Code, options?: ErrorOptions): ApiError<Code> =>
    // Of a generic key the compiler only knows that it may be missing.
    new ApiError(code, rows[code] as ErrorRow, options),
})
