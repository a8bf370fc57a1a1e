import { addressBucket, peerAddress, requestHeader, type ServedEnv, setHeader } from "@svc/http"
import type { Decision } from "@svc/limits"
import type { Context, Handler } from "hono"
import type { Queries } from "../db/database.ts"
import { errors } from "../errors.ts"
import type { Dependencies } from "../dependencies.ts"
import { type Policy, refusedBy } from "./agent-policy.ts"
import { authenticate, type Principal, type Refusal } from "./authenticate.ts"

export type AppEnv = ServedEnv & { Variables: { principal: Principal; queries: Queries } }

/** Time for all that one request asks of the database, in milliseconds: the answer must be out within two seconds. */
export const requestMs = 1800

const sessionsPerMinute = 60

export const clientOf = (dependencies: Dependencies, c: Context<AppEnv>): string =>
  dependencies.clientAddress(peerAddress(c), requestHeader(c, "x-forwarded-for"))

/** The headers that say who asks. */
export const credentialsOf = (c: Context<AppEnv>) => ({
  authorization: requestHeader(c, "authorization"),
  origin: requestHeader(c, "origin"),
})

/** What a request counts against: never more than `perMinute` of one bucket in any minute; 0 is no limit. */
export type RequestLimit = { readonly group: string; readonly bucket: string; readonly perMinute: number }

/** Counts a request, and tells the caller what is left, refused or not. Throws rate-limit-exceeded. */
export const countRequest = (
  dependencies: Dependencies,
  c: Context<AppEnv>,
  limit: RequestLimit,
): void | Promise<void> => {
  const { group, bucket: key, perMinute } = limit
  if (perMinute === 0) return
  const tell = ({ allowed, remaining, retryAfterSeconds, resetSeconds }: Decision): void => {
    setHeader(c, "RateLimit-Policy", `"default";q=${perMinute};w=60`)
    setHeader(c, "RateLimit", `"default";r=${remaining};t=${Math.min(resetSeconds, 60)}`)
    if (!allowed) throw errors.fail("rate-limit-exceeded", { retryAfterSeconds })
  }
  const decision = dependencies.limits.turn().take([{ table: "requests", group, key, limit: perMinute }])
  // Counted in this process nothing is waited for.
  return decision instanceof Promise ? decision.then(tell) : tell(decision)
}

const limitOf = (dependencies: Dependencies, c: Context<AppEnv>, policy: Policy, { keyId }: Principal): RequestLimit =>
  policy.limit === "sessions"
    ? {
        group: "sessions",
        bucket: `${keyId} ${addressBucket(clientOf(dependencies, c))}`,
        perMinute: sessionsPerMinute,
      }
    : { group: "key", bucket: String(keyId), perMinute: dependencies.config.perMinute.requests }

/** A caller who keeps sending keys that fail gets 429 in place of 401, which costs guessing its speed. */
const countFailure = async (dependencies: Dependencies, c: Context<AppEnv>): Promise<void> => {
  const perMinute = dependencies.config.perMinute.failedAuth
  if (perMinute === 0) return
  const key = addressBucket(clientOf(dependencies, c))
  const bucket = { table: "requests", group: "failed-auth", key, limit: perMinute }
  const { allowed, retryAfterSeconds } = await dependencies.limits.turn().take([bucket])
  if (!allowed) throw errors.fail("rate-limit-exceeded", { retryAfterSeconds })
}

const refuse = async (
  dependencies: Dependencies,
  c: Context<AppEnv>,
  { refused, message }: Refusal,
): Promise<never> => {
  if (errors.rows[refused].status === 401) await countFailure(dependencies, c)
  throw errors.fail(refused, message === undefined ? {} : { message })
}

/** Lets a handler run when the key is good and the policy lets this caller in; it finds who that is in `principal`. */
export const guarded =
  (dependencies: Dependencies, policy: Policy, handler: Handler<AppEnv>): Handler<AppEnv> =>
  async (c, next) => {
    const queries = dependencies.database.within(requestMs)
    const principal = await authenticate(dependencies.findKey, credentialsOf(c), dependencies.wallClock())
    dependencies.metrics.keyChecked("refused" in principal ? principal.refused : "ok")
    if ("refused" in principal) return refuse(dependencies, c, principal)
    const refused = refusedBy(policy, principal)
    if (refused !== undefined) throw errors.fail(refused)
    await countRequest(dependencies, c, limitOf(dependencies, c, policy, principal))
    const noted = dependencies.useTracker.note(principal)
    if (noted !== true && !(await noted)) return refuse(dependencies, c, { refused: "invalid-api-key" })
    c.set("queries", queries)
    c.set("principal", principal)
    return handler(c, next)
  }
