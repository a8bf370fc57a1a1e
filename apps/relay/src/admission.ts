import type { Bucket, Decision, Limits, Place } from "@svc/limits"
import type { SessionClaims } from "@svc/session-token"
import { errors } from "./errors.ts"
import type { RequestClass } from "./routes/route.ts"

/** Of a caller, what its limits hang on; empty for a caller without a token. */
type LimitedCaller = Partial<Pick<SessionClaims, "sub" | "key_class" | "limits">>

export type AdmissionConfig = {
  readonly perMinute: Readonly<Record<RequestClass, number>>
  readonly concurrency: { readonly inspect: number; readonly send: number }
  /** How long the provider may take, in milliseconds. */
  readonly timeoutMs: Readonly<Record<RequestClass, number>>
}

/** One request's way past the limits, in this order. */
export type AdmissionTurn = {
  /**
   * Counts the request against its address and then its subject, which a token's claim can limit further; without a caller
   * against its address alone. Throws `rate_limit_exceeded`.
   */
  readonly count: (caller?: LimitedCaller) => Promise<void>
  /** Takes a place without waiting for one; the result gives it back. Throws `server_busy`. */
  readonly enter: (caller: LimitedCaller) => Promise<() => void>
}

export type Admission = {
  /** Begins a request's turn. Throws `rate_limit_exceeded` when its address is known to be over its limit: no token is looked at. */
  readonly begin: (of: RequestClass, address: string) => AdmissionTurn
}

/** The lower of a setting and a claim, where the token has that claim. */
export const lower = (setting: number, claim: number | undefined): number => Math.min(setting, claim ?? setting)

const claimNames = {
  inspect: "max_transaction_inspect_requests_per_minute",
  status: "max_transaction_status_requests_per_minute",
  send: "max_transaction_send_requests_per_minute",
} as const

/** What a place is held for longer than its call may take, should this process not give it back. */
const leaseExtraMs = 5000

// A secret and a publishable key of the same owner have places of their own: a public key can't starve a secret one.
const subjectKey = ({ sub, key_class }: LimitedCaller): string => `${key_class ?? ""} ${sub ?? ""}`

const limited = ({ allowed, retryAfterSeconds }: Decision): void => {
  if (!allowed) throw errors.fail("rate_limit_exceeded", { retryAfterSeconds })
}

/** Makes the relay's limits. Addresses and subjects have tables of their own: a flood of one leaves the other its room. */
export const createAdmission = (config: AdmissionConfig, limits: Limits): Admission => {
  const subjectBucket = (of: RequestClass, caller: LimitedCaller): Bucket => ({
    table: "subject",
    group: of,
    key: subjectKey(caller),
    limit: lower(config.perMinute[of], caller.limits?.[claimNames[of]]),
  })

  const placesOf = (of: RequestClass, caller: LimitedCaller): Place[] => {
    const pool = of === "send" ? "send" : "inspect"
    const global = { pool, limit: config.concurrency[pool] }
    const claim = caller.limits?.max_transaction_concurrency
    return claim === undefined ? [global] : [{ pool: `${pool} ${subjectKey(caller)}`, limit: claim }, global]
  }

  return {
    begin: (of, address) => {
      const bucket: Bucket = { table: "address", group: of, key: address, limit: config.perMinute[of] }
      limited(limits.peek(bucket))
      const turn = limits.turn()
      return {
        count: async (caller) =>
          limited(await turn.take(caller?.sub === undefined ? [bucket] : [bucket, subjectBucket(of, caller)])),
        enter: async (caller) => {
          const entry = await turn.enter(placesOf(of, caller), config.timeoutMs[of] + leaseExtraMs)
          if ("leave" in entry) return entry.leave
          throw errors.fail("server_busy", { retryAfterSeconds: entry.full.limit === 0 ? 60 : 1 })
        },
      }
    },
  }
}
