import { integer, type loadConfig, text, url } from "@svc/config"
import type { Limits } from "./limits.ts"
import { createLocalLimits } from "./local.ts"
import { createSharedLimits, type SharedOptions } from "./shared.ts"

/** The settings of limits, which are the same for every service. */
export const limitFields = {
  url: url("SVC_LIMITS_URL", undefined, { protocols: ["redis:", "rediss:"], exact: true, credentials: true }),
  prefix: text("SVC_LIMITS_PREFIX", "svc"),
  timeoutMs: integer("SVC_LIMITS_TIMEOUT_MS", 50, { min: 1, max: 10_000 }),
  replicas: integer("SVC_LIMITS_REPLICAS", 1, { min: 1, max: 10_000 }),
}

type Call = <T>(name: string, attributes: Readonly<Record<string, string>>, work: () => Promise<T>) => Promise<T>

const attributes = { "db.system.name": "redis" }

/** The same limits, with `call` around each request to the store. */
const observed = (limits: Limits, call: Call): Limits => {
  const waiting = <T>(name: string, ask: () => T | Promise<T>): T | Promise<T> =>
    limits.mode() === "shared" ? call(name, attributes, async () => ask()) : ask()
  return {
    ...limits,
    take: (...asked) => waiting("limits take", () => limits.take(...asked)),
    enter: (wanted) => waiting("limits enter", () => limits.enter(wanted)),
  }
}

type Log = Readonly<Record<"info" | "warn", (...line: [object, string]) => void>>

type About = Pick<SharedOptions, "service" | "replicaId" | "now" | "connect">

/**
 * Makes limits: shared if the settings have a store's URL, else local.
 * @param call runs requests to the store, and makes spans of them
 */
export const openLimits = async (
  settings: ReturnType<typeof loadConfig<typeof limitFields>>,
  { log, call, ...about }: About & { readonly log: Log; readonly call: Call },
): Promise<Limits> => {
  const { url: storeUrl } = settings
  if (storeUrl === undefined) return createLocalLimits(about)
  const shared = await createSharedLimits({
    ...settings,
    ...about,
    url: storeUrl,
    onAway: (reason) =>
      log.warn(
        { reason },
        "the limits' store (SVC_LIMITS_URL) can't be used: each replica goes on with its share of the limits",
      ),
    onBack: () => log.info({}, "the limits' store has been back for a minute: it counts for all replicas again"),
  })
  return observed(shared, call)
}
