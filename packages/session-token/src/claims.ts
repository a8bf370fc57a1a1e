import { z } from "zod"

/** The lifetime of a new token, in seconds. */
export const sessionLifetimeSeconds = 300

/** The possible words of `scope`. They are independent: none includes another. */
export const sessionScopes = ["read", "transaction:inspect", "transaction:send"] as const

export type SessionScope = (typeof sessionScopes)[number]

const limit = z.int().nonnegative().optional()

const sessionLimits = z.object({
  max_transaction_inspect_requests_per_minute: limit,
  max_transaction_send_requests_per_minute: limit,
  max_transaction_status_requests_per_minute: limit,
  max_transaction_request_bytes: limit,
  max_transaction_bytes: limit,
  max_transaction_concurrency: limit,
})

/** Limits in a token. Each can only lower the verifier's own limit. */
export type SessionLimits = z.infer<typeof sessionLimits>

/** With the limits of a stream server, for all connections of the token's subject. */
const allLimits = sessionLimits.extend({
  max_connections: limit,
  max_subscriptions: limit,
  max_snapshot_rows: limit,
  max_messages_per_minute: limit,
  max_bytes_per_minute: limit,
})

const seconds = z.number().nonnegative()

/** The claims of a session token (RFC 7519 names, times in unix seconds); unknown ones are ignored. */
export const sessionClaims = z.object({
  iss: z.string(),
  /** `agent:<slug>` or `user:<id>` */
  sub: z.string(),
  /** The stack's name. */
  aud: z.string(),
  iat: seconds,
  nbf: seconds,
  exp: seconds,
  jti: z.string(),
  /** Space-separated words. */
  scope: z.string(),
  key_class: z.enum(["secret", "publishable"]),
  /** `key:<id>` */
  metering_key: z.string(),
  deployment_id: z.union([z.string(), z.number()]).optional(),
  /** The one web origin that may use the token. */
  origin: z.string().optional(),
  plan: z.string().optional(),
  limits: allLimits.optional(),
})

export type SessionClaims = z.infer<typeof sessionClaims>
