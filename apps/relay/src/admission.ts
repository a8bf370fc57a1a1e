import { errors } from "./errors.ts"
import type { Limiter } from "@svc/http"
import type { SessionClaims } from "@svc/session-token"
import type { RequestClass } from "./routes/route.ts"

/** Of a caller, what its limits hang on; empty for a caller without a token. */
type LimitedCaller = Partial<Pick<SessionClaims, "sub" | "key_class" | "limits">>

export type AdmissionSettings = {
  readonly perMinute: Readonly<Record<RequestClass, number>>
  readonly concurrency: { readonly inspect: number; readonly send: number }
}

export type Admission = {
  /** Counts a request against its client's address; throws `rate_limit_exceeded`. */
  readonly takeAddress: (of: RequestClass, address: string) => void
  /** Counts a request against its subject, which a token's claim can limit further. */
  readonly takeSubject: (of: RequestClass, caller: LimitedCaller) => void
  /** Takes a place without waiting for one; the result gives it back. Throws `server_busy`. */
  readonly enter: (of: RequestClass, caller: LimitedCaller) => () => void
}

/** The lower of a setting and a claim, where the token has that claim. */
export const lower = (setting: number, claim: number | undefined): number => Math.min(setting, claim ?? setting)

const claimNames = {
  inspect: "max_transaction_inspect_requests_per_minute",
  status: "max_transaction_status_requests_per_minute",
  send: "max_transaction_send_requests_per_minute",
} as const

// A secret and a publishable key of the same owner have places of their own: a public key can't starve a secret one.
const subjectKey = ({ sub, key_class }: LimitedCaller): string => `${key_class ?? ""} ${sub ?? ""}`

/**
 * Makes the relay's limits, all local to this process. Addresses and subjects have buckets of their own, so that a flood
 * of addresses can't push subjects into a shared bucket.
 */
export const createAdmission = (settings: AdmissionSettings, addresses: Limiter, subjects: Limiter): Admission => {
  const inUse = { inspect: 0, send: 0 }
  const bySubject = new Map<string, number>()

  const take = (limiter: Limiter, of: RequestClass, key: string, limit: number): void => {
    const { allowed, retryAfterSeconds } = limiter.take(of, key, limit)
    if (!allowed) throw errors.fail("rate_limit_exceeded", { retryAfterSeconds })
  }

  const busy = (limit: number) => errors.fail("server_busy", { retryAfterSeconds: limit === 0 ? 60 : 1 })

  return {
    takeAddress: (of, address) => take(addresses, of, address, settings.perMinute[of]),
    takeSubject: (of, caller) => {
      if (caller.sub === undefined) return
      take(subjects, of, subjectKey(caller), lower(settings.perMinute[of], caller.limits?.[claimNames[of]]))
    },
    enter: (of, caller) => {
      const pool = of === "send" ? "send" : "inspect"
      const key = `${pool} ${subjectKey(caller)}`
      const claim = caller.limits?.max_transaction_concurrency
      const own = bySubject.get(key) ?? 0
      if (claim !== undefined && own >= claim) throw busy(claim)
      if (inUse[pool] >= settings.concurrency[pool]) throw busy(settings.concurrency[pool])
      inUse[pool]++
      if (caller.sub !== undefined) bySubject.set(key, own + 1)
      return () => {
        inUse[pool]--
        const left = (bySubject.get(key) ?? 0) - 1
        if (left > 0) bySubject.set(key, left)
        else bySubject.delete(key)
      }
    },
  }
}
