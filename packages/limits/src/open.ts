import { integer, text, url } from "@svc/config"
import type { Limits } from "./limits.ts"
import { createLocalLimits } from "./local.ts"
import { createSharedLimits } from "./shared.ts"

/** The settings of limits: for every service the same. */
export const limitFields = {
  url: url("SVC_LIMITS_URL", undefined, { protocols: ["redis:", "rediss:"], exact: true, credentials: true }),
  prefix: text("SVC_LIMITS_PREFIX", "svc"),
  timeoutMs: integer("SVC_LIMITS_TIMEOUT_MS", 50, { min: 1, max: 10_000 }),
  replicas: integer("SVC_LIMITS_REPLICAS", 1, { min: 1, max: 10_000 }),
}

export type LimitSettings = {
  readonly url: string | undefined
  readonly prefix: string
  readonly timeoutMs: number
  readonly replicas: number
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
  if (settings.url === undefined) return createLocalLimits({ now })
  return createSharedLimits({
    ...settings,
    url: settings.url,
    service,
    replicaId,
    now,
    onAway: (reason) =>
      log.warn({ reason }, "the limits' store can't be used: each replica goes on with its share of the limits"),
    onBack: () => log.info({}, "the limits' store is back"),
  })
}
