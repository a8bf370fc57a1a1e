import { z } from "zod"

/** The lifetime of a new token, in seconds. */
export const sessionLifetimeSeconds = 300

/** The words of `scope` that the relay asks for. */
export const relayScopes = ["transaction:inspect", "transaction:send"] as const
/** All its possible words. They are independent: none includes another. */
export const sessionScopes = ["read", ...relayScopes] as const

export type RelayScope = (typeof relayScopes)[number]
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

/**
 * The claims of a session token (RFC 7519 names, times in unix seconds). The platform sets all of them; a verifier requires only
 * `iss`, `sub`, `aud`, `exp` and `scope`. Unknown claims are ignored.
 */
export const sessionClaims = z.object({
  iss: z.string(),
  /** `agent:<slug>` or `user:<id>` */
  sub: z.string(),
  /** The stack's name. */
  aud: z.string(),
  iat: seconds.exactOptional(),
  nbf: seconds.exactOptional(),
  exp: seconds,
  jti: z.string().exactOptional(),
  /** Space-separated words. */
  scope: z.string(),
  /** The class of the key that minted the token. Without it the subject has one set of limits. */
  key_class: z.enum(["secret", "publishable"]).exactOptional(),
  /** `key:<id>`; without it usage is recorded for the subject. */
  metering_key: z.string().exactOptional(),
  deployment_id: z.union([z.string(), z.number()]).optional(),
  /** The one web origin that may use the token. */
  origin: z.string().optional(),
  plan: z.string().optional(),
  limits: allLimits.optional(),
})

export type SessionClaims = z.infer<typeof sessionClaims>

/** The claims of a new token, apart from its times. */
export type NewSessionClaims = Omit<SessionClaims, "iat" | "nbf" | "exp"> &
  Required<Pick<SessionClaims, "jti" | "key_class" | "metering_key">>
