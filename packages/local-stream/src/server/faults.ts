/** An error: an HTTP response before the upgrade, a message on a connection afterwards. */
export type Fault = {
  readonly code: string
  readonly status: number
  readonly message: string
  readonly hint?: string
  readonly retryAfterSeconds?: number
  readonly retryable?: boolean
  /** Ends the connection. */
  readonly fatal?: boolean
}

const mint = "Mint a session token for this stack at the platform (POST /ws/sessions), and connect with it."
const reached = "A limit of the token is reached."
const again = { retryable: true, retryAfterSeconds: 60, fatal: true }
const soon = { retryable: true, retryAfterSeconds: 1 }

export const faults = {
  "stack-not-found": {
    status: 404,
    message: "No public stack has this name.",
    hint: "The registry has every stack's URL.",
  },
  "not-found": { status: 404, message: "Nothing is at this path.", hint: "A stream's path is the name of its stack." },
  "upgrade-required": { status: 426, message: "This path is a WebSocket.", hint: "Connect with ws:// or wss://." },
  "service-unavailable": { status: 503, message: "The registry isn't loaded yet.", ...soon },
  "auth-unavailable": { status: 503, message: "The platform's keys aren't loaded yet.", ...soon },
  "token-missing": { status: 401, message: "A session token is required.", hint: mint },
  "token-expired": { status: 401, message: "The session token has expired.", hint: mint, retryable: true, fatal: true },
  "token-invalid-signature": { status: 401, message: "The session token's signature is wrong.", hint: mint },
  "token-invalid-format": { status: 401, message: "The session token can't be read.", hint: mint },
  "token-invalid-issuer": { status: 401, message: "The session token is from another issuer.", hint: mint },
  "token-invalid-audience": { status: 401, message: "The session token is for another stack.", hint: mint },
  "token-missing-claim": { status: 401, message: "The session token lacks a claim.", hint: mint },
  "token-key-not-found": { status: 401, message: "The session token's key is unknown.", hint: mint },
  "origin-mismatch": { status: 403, message: "The session token is for another origin." },
  "origin-required": { status: 403, message: "The session token needs an Origin header." },
  "insufficient-scope": { status: 403, message: "The session token lacks the scope read.", hint: mint },
  "connection-limit-exceeded": { status: 429, message: reached, hint: "Close another connection first.", ...soon },
  "invalid-message": {
    status: 400,
    message: "The message can't be read.",
    hint: "Send JSON as the page Streams shows it.",
  },
  "view-not-found": { status: 404, message: "The stack has no such view.", hint: "The schema lists the views." },
  "view-unsupported": { status: 501, message: "The local stream doesn't compute this view." },
  "key-required": { status: 400, message: "This view shows one record: add its key to the subscription." },
  "subscription-limit-exceeded": {
    status: 429,
    message: "A limit of the token, or of a connection, is reached.",
    hint: "Unsubscribe from another view first.",
  },
  "snapshot-limit-exceeded": { status: 429, message: reached, hint: "Ask for fewer records: take or snapshotLimit." },
  "rate-limit-exceeded": { status: 429, message: reached, hint: "Send fewer messages a minute.", ...again },
  "egress-limit-exceeded": { status: 429, message: reached, hint: "Subscribe to less.", ...again },
} as const satisfies Readonly<Record<string, Omit<Fault, "code">>>

export class StreamFault extends Error {
  readonly fault: Fault

  constructor(code: keyof typeof faults, message: string = faults[code].message, hint?: string) {
    super(message)
    this.fault = { ...faults[code], code, message, ...(hint !== undefined && { hint }) }
  }
}

/** The error message that existing clients understand. */
export const faultMessage = (fault: Fault): string => {
  const { code, message, hint, retryable = false, retryAfterSeconds, fatal = false } = fault
  const optional = { retry_after: retryAfterSeconds, suggested_action: hint }
  return JSON.stringify({ type: "error", error: code, message, code, retryable, ...optional, fatal })
}

/** Headers and body of an HTTP response, in the platform's error format. */
export const faultResponse = (fault: Fault, requestId: string) => {
  const { code, status, message, hint, retryable = false, retryAfterSeconds } = fault
  const details = { request_id: requestId, retryable, retry_after_seconds: retryAfterSeconds, hint }
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-error-code": code,
    "x-request-id": requestId,
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    ...(status === 401 && { "www-authenticate": code === "token-missing" ? "Bearer" : 'Bearer error="invalid_token"' }),
    ...(status === 426 && { upgrade: "websocket" }),
  }
  return { headers, body: JSON.stringify({ error: message, code, ...details }) }
}
