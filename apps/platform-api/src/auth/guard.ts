import type { ApiError } from "@svc/errors"
import { addressBucket, requestHeader, type ServedEnv } from "@svc/http"
import type { Context, Handler } from "hono"
import type { Queries } from "../db/database.ts"
import { type ErrorCode, errors } from "../errors.ts"
import type { Services } from "../services.ts"
import { type PolicyName, refusedBy } from "./agent-policy.ts"
import { authenticate, type Principal } from "./authenticate.ts"

export type AppEnv = ServedEnv & { Variables: { principal: Principal; queries: Queries } }

/** Time for all that one request asks of the database, in milliseconds: the answer must be out within two seconds. */
export const requestMs = 1800

export const clientOf = (services: Services, c: Context<AppEnv>): string =>
  services.clientAddress(c.env.incoming.socket.remoteAddress, requestHeader(c, "x-forwarded-for"))

/** The headers that say who asks. */
export const credentialsOf = (c: Context<AppEnv>) => ({
  authorization: requestHeader(c, "authorization"),
  origin: requestHeader(c, "origin"),
})

/** Counts a request against a bucket; a limit of 0 is none. Throws rate-limit-exceeded. */
export const takeOne = (services: Services, group: string, key: string, limit: number): void => {
  if (limit === 0) return
  const decision = services.limiter.take(group, key, limit)
  if (!decision.allowed) throw errors.fail("rate-limit-exceeded", { retryAfterSeconds: decision.retryAfterSeconds })
}

const refusal = (services: Services, c: Context<AppEnv>, code: ErrorCode): ApiError => {
  const limit = services.settings.SVC_FAILED_AUTH_PER_MINUTE
  if (errors.rows[code].status === 401 && limit > 0) {
    takeOne(services, "failed-auth", addressBucket(clientOf(services, c)), limit)
  }
  return errors.fail(code)
}

/** Lets a handler run when the key is good and the policy lets this caller in; it finds who that is in `principal`. */
export const guarded =
  (services: Services, policy: PolicyName, handler: Handler<AppEnv>): Handler<AppEnv> =>
  async (c, next) => {
    const queries = services.database.within(requestMs)
    const principal = await authenticate(services.findKey, credentialsOf(c), services.wallClock())
    if ("refused" in principal) throw refusal(services, c, principal.refused)
    const refused = refusedBy(policy, principal)
    if (refused !== undefined) throw errors.fail(refused)
    if (policy !== "sessions")
      takeOne(services, "key", String(principal.keyId), services.settings.SVC_REQUESTS_PER_MINUTE)
    services.useTracker.note(principal)
    c.set("queries", queries)
    c.set("principal", principal)
    return handler(c, next)
  }
