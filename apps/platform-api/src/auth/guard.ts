import type { ApiError } from "@svc/errors"
import { addressBucket, type HttpEnv } from "@svc/http"
import { prefixKind } from "@svc/keys"
import type { Bucket, Decision } from "@svc/limits"
import type { Context, MiddlewareHandler } from "hono"
import { type ErrorCode, errors } from "../errors.ts"
import type { ReadAst } from "../compiler/tasks.ts"
import { type Queries, requestMs } from "../db/database.ts"
import type { Dependencies } from "../dependencies.ts"
import type { Audience } from "../registry/audience.ts"
import { documented, rateLimited } from "../routes/create-route.ts"
import { accountName, authenticate, type Principal, readKey, type Refusal } from "./authenticate.ts"
import type { SentKey } from "./find-key.ts"

/** An agent's secret key, a person's secret key, or a publishable key of either. */
type KeyHolder = "agent" | "person" | "publishable"

/** Who may call a group of routes, and the limit that requests count against (see `limitOf` in guard.ts). */
export type Policy = {
  readonly callers: readonly KeyHolder[]
  readonly limit: "key" | "sessions"
  /** What an agent does instead, if its keys are rejected. */
  readonly agentHint?: string
}

export const policies = {
  agentAccount: { callers: ["agent"], limit: "key" },
  ownRecords: { callers: ["agent", "person"], limit: "key" },
  sessions: { callers: ["agent", "person", "publishable"], limit: "sessions" },
  people: { callers: ["person"], limit: "key" },
  peoplesKeys: {
    callers: ["person"],
    limit: "key",
    agentHint: "An agent's keys are at /api/agents/me/keys.",
  },
} as const satisfies Record<string, Policy>

const refusals = {
  publishable: "secret-key-required",
  agent: "agent-account-forbidden",
  person: "agent-account-required",
} as const satisfies Record<KeyHolder, ErrorCode>

/** The codes for callers that the policy rejects. */
export const refusalsOf = ({ callers }: Policy) =>
  (["publishable", "agent", "person"] as const).filter((one) => !callers.includes(one)).map((one) => refusals[one])

/** The error that rejects this caller, if any. The class of the key is checked before the kind of account. */
const refusedBy = ({ callers, agentHint: hint }: Policy, { keyClass, kind }: Principal): ApiError | undefined => {
  const caller = keyClass === "publishable" ? keyClass : kind === "agent" ? kind : "person"
  if (callers.includes(caller)) return undefined
  return errors.fail(refusals[caller], { hint: caller === "agent" ? hint : undefined })
}

export type AppEnv = HttpEnv & {
  Variables: {
    dependencies: Dependencies
    principal: Principal
    queries: Queries
    usedKey?: number
    idempotencyKey: string | undefined
    caller: Caller
    /** The AST in a large body, if there is one, and the hash of the body. */
    upload?: { readonly hash: string; readonly ast: ReadAst | undefined }
  }
}

/** Session tokens per minute for a key and a client address. */
export const sessionsPerMinute = 60

/** What a request counts against: at most so many of a key or an address in any minute; 0 means no limit. */
export const limitOn = (
  group: "registry" | "keyed-registry" | "key" | "sessions" | "failed-auth",
  key: string,
  limit: number,
): Bucket => ({ table: group, group, key, limit })

/** A caller of the registry, and the limit that the request counts against. */
export type Caller = {
  readonly audience: Audience
  readonly limit: Bucket
  /** Whether any credentials were sent. Then shared caches must not keep the response. */
  readonly credentials: boolean
  /** The holder of a valid key. */
  readonly principal?: Principal
  /** Why the key was ignored. */
  readonly ignored?: ErrorCode
}

/** Whose key this is: known once it was looked up, and remembered for the requests that are refused before that. */
const nameAccount = (c: Context<AppEnv>, bucket: string): void => {
  const { overLimit } = c.get("dependencies")
  const account = c.get("account") ?? overLimit.get(bucket)
  if (account === undefined) return
  c.set("account", account)
  overLimit.set(bucket, account)
}

/** Sets the rate limit headers. Throws rate-limit-exceeded. */
const tell = (c: Context<AppEnv>, { group, key, limit }: Bucket, decision: Decision): void => {
  const { allowed, remaining, retryAfterSeconds, resetSeconds } = decision
  // All buckets but one are a key's.
  if (group !== "registry" && remaining === 0) nameAccount(c, key)
  c.header("RateLimit-Policy", `"default";q=${limit};w=60`)
  c.header("RateLimit", `"default";r=${remaining};t=${Math.min(resetSeconds, 60)}`)
  if (!allowed) throw errors.fail("rate-limit-exceeded", { retryAfterSeconds })
}

/** Counts a request and sets the rate limit headers. Throws rate-limit-exceeded. */
export const countRequest = async (c: Context<AppEnv>, bucket: Bucket): Promise<void> => {
  if (bucket.limit > 0) tell(c, bucket, await c.get("dependencies").limits.take([bucket]))
}

/** What is known of a key when its requests are counted. */
export type CountedKey = Pick<Principal, "keyHash" | "keyClass">

/** The sender of a request, or why the key was ignored. */
type Identified =
  | Principal
  | (Omit<Refusal, "refused"> & { readonly refused: ErrorCode; readonly retryAfterSeconds?: number })

/**
 * Identifies the sender of a request. Two cases need no query: a key that has used up its own limit (throws
 * rate-limit-exceeded), and a key that this service most likely never made, if failed authentications from the address
 * have used up theirs. Past that limit, a failed authentication gets rate-limit-exceeded instead of its own code. A
 * valid key is never rejected because of other failures from its address. Throws DatabaseUnavailable.
 * @param limitOf the limit of a key; undefined if the request doesn't count
 */
export const identify = async (
  c: Context<AppEnv>,
  limitOf: (key: CountedKey) => Bucket | undefined,
): Promise<Identified> => {
  const { limits, findKey, wallClock, config, metrics } = c.get("dependencies")
  const failures = limitOn("failed-auth", addressBucket(c.get("clientAddress")), config.perMinute.failedAuth)
  const look = (key: SentKey): Promise<Principal | Refusal> => {
    const own = limitOf({ keyHash: key.hash, keyClass: prefixKind(key.text) === "pk" ? "publishable" : "secret" })
    const known = own !== undefined && own.limit > 0 ? limits.peek(own) : undefined
    if (own !== undefined && known?.allowed === false) tell(c, own, known)
    const isSuspect = failures.limit > 0 && !limits.peek(failures).allowed
    return authenticate(findKey, key, { origin: c.req.header("origin"), now: wallClock(), isSuspect })
  }
  const key = readKey(c.req.header("authorization"))
  const found = "refused" in key ? key : await look(key)
  metrics.keyChecked("refused" in found ? found.refused : "ok")
  if (!("refused" in found)) {
    c.set("account", accountName(found))
    c.set("isShared", found.keyClass === "publishable")
    c.set("usedKey", found.keyId)
    return found
  }
  if (failures.limit === 0 || errors.rows[found.refused].status !== 401) return found
  const { allowed, retryAfterSeconds } = await limits.take([failures])
  if (allowed) return found
  const message = "Too many failed authentications from this address."
  return { refused: "rate-limit-exceeded", message, retryAfterSeconds }
}

/** A key of a client address: of one that many share, nobody uses up what the others need. */
export const ofClient = (c: Context<AppEnv>, keyHash: string): string =>
  `${keyHash} ${addressBucket(c.get("clientAddress"))}`

const limitOf = (c: Context<AppEnv>, policy: Policy, keyHash: string): Bucket =>
  policy.limit === "sessions"
    ? limitOn("sessions", ofClient(c, keyHash), sessionsPerMinute)
    : limitOn("key", keyHash, c.get("dependencies").config.perMinute.requests)

const refusal = ({ refused, ...options }: Exclude<Identified, Principal>) => errors.fail(refused, options)

/** Lets a request pass if its key is valid and the policy allows the caller, who is then in `principal`. */
export const authenticated = (policy: Policy): MiddlewareHandler<AppEnv> =>
  documented({ sets: rateLimited }, async (c, next) => {
    const { database, useTracker } = c.get("dependencies")
    const queries = database.within(requestMs)
    const ofKey = ({ keyHash }: CountedKey) => limitOf(c, policy, keyHash)
    const principal = await identify(c, ofKey)
    if ("refused" in principal) throw refusal(principal)
    const refused = refusedBy(policy, principal)
    if (refused !== undefined) throw refused
    await countRequest(c, ofKey(principal))
    const noted = useTracker.note(principal)
    if (noted !== true && !(await noted)) throw refusal({ refused: "invalid-api-key" })
    c.set("queries", queries)
    c.set("principal", principal)
    await next()
  })
