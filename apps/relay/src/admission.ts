import type { Bucket, Decision, Entry, Limits, Places } from "@svc/limits"
import type { SessionClaims, SessionLimits } from "@svc/session-token"
import type { Config } from "./config.ts"
import { errors } from "./errors.ts"
import type { RequestClass } from "./routes/route.ts"

/** The claims that the limits of a caller depend on; empty for a caller without a token. */
type LimitedCaller = Partial<Pick<SessionClaims, "sub" | "key_class" | "limits">>

/** A setting, or the claim of the token if that is lower. */
export const lower = (setting: number, claim: number | undefined): number => Math.min(setting, claim ?? setting)

/** What each limit of a token lowers: a setting of a size, the requests of a class in a minute, or the calls at once. */
const lowered = {
  max_transaction_inspect_requests_per_minute: "inspect",
  max_transaction_status_requests_per_minute: "status",
  max_transaction_send_requests_per_minute: "send",
  max_transaction_concurrency: "concurrency",
  max_transaction_request_bytes: "maxBodyBytes",
  max_transaction_bytes: "maxBytes",
} as const satisfies Record<keyof SessionLimits, RequestClass | "concurrency" | "maxBodyBytes" | "maxBytes">

type Lowered = (typeof lowered)[keyof typeof lowered]
const nameOf = Object.fromEntries(Object.entries(lowered).map(([name, what]) => [what, name])) as Record<
  Lowered,
  keyof SessionLimits
>

/** The limit that a token sets, if it does. */
export const claimed = (what: Lowered, limits: SessionLimits | undefined): number | undefined => limits?.[nameOf[what]]

/** How long a place stays occupied after its call's timeout if this process dies without releasing it. */
export const leaseExtraMs = 5000

// Tokens of secret and publishable keys have separate places, so a public key can't use up those of a secret one.
const subjectKey = ({ sub, key_class }: LimitedCaller): string => `${key_class ?? ""} ${sub ?? ""}`

const limited = ({ allowed, retryAfterSeconds }: Decision): void => {
  if (!allowed) throw errors.fail("rate_limit_exceeded", { retryAfterSeconds })
}

/** Makes the relay's limits. Addresses and subjects have separate tables, so a flood of one doesn't displace the other. */
export const createAdmission = (config: Pick<Config, "perMinute" | "concurrency" | "timeoutMs">, limits: Limits) => {
  const subjectBucket = (of: RequestClass, caller: LimitedCaller): Bucket => ({
    table: "subject",
    group: of,
    key: subjectKey(caller),
    limit: lower(config.perMinute[of], claimed(of, caller.limits)),
  })

  const placesFor = (of: RequestClass, caller: LimitedCaller): Places => {
    const pool = of === "send" ? "send" : "inspect"
    const global = { pool, limit: config.concurrency[pool] }
    const claim = claimed("concurrency", caller.limits)
    const places = claim === undefined ? [global] : [{ pool: `${pool} ${subjectKey(caller)}`, limit: claim }, global]
    return { places, leaseMs: config.timeoutMs[of] + leaseExtraMs }
  }

  return {
    /** Begins a request. Throws `rate_limit_exceeded` if its address is known to be over its limit, before the token is checked. */
    begin: (of: RequestClass, address: string) => {
      const addressBucket: Bucket = { table: "address", group: of, key: address, limit: config.perMinute[of] }
      const known = limits.peek(addressBucket)
      // While addresses share a bucket, a valid token isn't rejected: its request counts only for its subject.
      if (!known.shared) limited(known)
      let entry: Entry | undefined
      return {
        /**
         * Counts the request for its address and its subject, whose limit a claim can lower; without a caller only for its
         * address. Throws `rate_limit_exceeded`.
         * @param bodyIsHere the request will soon need a place, so a shared store takes it in the same call
         */
        count: async (caller?: LimitedCaller, bodyIsHere = false): Promise<void> => {
          if (caller?.sub === undefined) return limited(await limits.take([addressBucket]))
          const subject = subjectBucket(of, caller)
          const buckets = known.shared ? [subject] : [addressBucket, subject]
          const taken = await limits.take(buckets, bodyIsHere ? placesFor(of, caller) : undefined)
          limited(taken)
          entry = taken.entry
        },
        /** Takes a place. Throws `server_busy` if none is free. */
        enter: async (caller: LimitedCaller): Promise<void> => {
          entry ??= await limits.enter(placesFor(of, caller))
          if ("leave" in entry) return
          throw errors.fail("server_busy", { retryAfterSeconds: entry.full.limit === 0 ? 60 : 1 })
        },
        /** Releases the place, if there is one. */
        leave: (): void => {
          if (entry !== undefined && "leave" in entry) entry.leave()
        },
      }
    },
  }
}

export type Admission = ReturnType<typeof createAdmission>
