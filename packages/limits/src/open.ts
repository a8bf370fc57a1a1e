import { integer, text, url } from "@svc/config"
import type { Limits, Turn } from "./limits.ts"
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

type Call = <T>(name: string, attributes: Readonly<Record<string, string>>, work: () => Promise<T>) => Promise<T>

const store = { "db.system.name": "redis" }

/** The same limits, with each wait for the store told to `call`. */
const observed = (limits: Limits, call: Call): Limits => ({
  ...limits,
  turn: (): Turn => {
    const { take, enter } = limits.turn()
    return {
      take: (buckets) =>
        limits.mode() === "shared" ? call("limits take", store, () => Promise.resolve(take(buckets))) : take(buckets),
      enter: (places, leaseMs) =>
        limits.mode() === "shared"
          ? call("limits enter", store, () => Promise.resolve(enter(places, leaseMs)))
          : enter(places, leaseMs),
    }
  },
})

type Log = Readonly<Record<"info" | "warn", (...line: [object, string]) => void>>

/**
 * Makes the limits that the settings ask for: shared with a store's URL, else local.
 * @param service whose replicas share them
 * @param replicaId another one for each process
 * @param now a monotonic clock, in milliseconds
 * @param call through which a request waits for the store, as for any call out: makes a span of it
 */
export const openLimits = async (
  settings: LimitSettings,
  {
    service,
    replicaId,
    now,
    log,
    call,
  }: { service: string; replicaId: string; now: () => number; log: Log; call: Call },
): Promise<Limits> => {
  if (settings.url === undefined) return createLocalLimits({ now })
  const shared = await createSharedLimits({
    ...settings,
    url: settings.url,
    service,
    replicaId,
    now,
    onAway: (reason) =>
      log.warn({ reason }, "the limits' store can't be used: each replica goes on with its share of the limits"),
    onBack: () => log.info({}, "the limits' store is back"),
  })
  return observed(shared, call)
}
