import { integer, text, url } from "@svc/config"
import type { Limits } from "./limits.ts"
import { createLocalLimits } from "./local.ts"
import { createSharedLimits } from "./shared.ts"

/** The settings of limits: for every service the same. */
export const limitFields = {
  SVC_LIMITS_URL: url({ default: undefined, protocols: ["redis:", "rediss:"], exact: true, credentials: true }),
  SVC_LIMITS_PREFIX: text({ default: "svc" }),
  SVC_LIMITS_TIMEOUT_MS: integer({ default: 50, min: 1, max: 10_000 }),
  SVC_LIMITS_REPLICAS: integer({ default: 1, min: 1, max: 10_000 }),
}

export type LimitSettings = {
  readonly SVC_LIMITS_URL: string | undefined
  readonly SVC_LIMITS_PREFIX: string
  readonly SVC_LIMITS_TIMEOUT_MS: number
  readonly SVC_LIMITS_REPLICAS: number
}

type Log = Readonly<Record<"info" | "warn", (...line: [object, string]) => void>>

/**
 * Makes the limits that the settings ask for: shared with a store's URL, else local.
 * @param service whose replicas share them
 * @param replicaId another one for each process
 * @param now a monotonic clock, in milliseconds
 */
export const openLimits = async (
  settings: LimitSettings,
  { service, replicaId, now, log }: { service: string; replicaId: string; now: () => number; log: Log },
): Promise<Limits> => {
  if (settings.SVC_LIMITS_URL === undefined) return createLocalLimits({ now })
  return createSharedLimits({
    url: settings.SVC_LIMITS_URL,
    prefix: settings.SVC_LIMITS_PREFIX,
    timeoutMs: settings.SVC_LIMITS_TIMEOUT_MS,
    replicas: settings.SVC_LIMITS_REPLICAS,
    service,
    replicaId,
    now,
    onAway: (reason) =>
      log.warn({ reason }, "the limits' store can't be used: each replica goes on with its share of the limits"),
    onBack: () => log.info({}, "the limits' store is back"),
  })
}
