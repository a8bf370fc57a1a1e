import { integer, type loadConfig, text, url } from "@svc/config"
import type { Limits, Replica } from "./limits.ts"
import { createLocalLimits } from "./local.ts"
import { createSharedLimits } from "./shared.ts"

const storeUrl = url("SVC_LIMITS_URL", undefined, { protocols: ["redis:", "rediss:"], exact: true, credentials: true })
const endsWithNumber = (value: string | undefined): boolean => /^\/?\d*$/.test(URL.parse(value ?? "")?.pathname ?? "")

/** The settings of limits, which are the same for every service. */
export const limitFields = {
  url: {
    ...storeUrl,
    schema: storeUrl.schema.refine(endsWithNumber, "must have no path, or a database's number such as /0"),
  },
  prefix: text("SVC_LIMITS_PREFIX", "svc"),
  timeoutMs: integer("SVC_LIMITS_TIMEOUT_MS", 50, { min: 1, max: 10_000 }),
  replicas: integer("SVC_LIMITS_REPLICAS", 1, { min: 1, max: 10_000 }),
}

/**
 * Makes limits: shared if the settings have a store's URL, else local.
 * @example
 * ```ts
 * const limits = await openLimits(settings, replica)
 * const { allowed } = await limits.take([{ table: "address", group: "send", key: address, limit: 60 }])
 * ```
 */
export const openLimits = async (
  { url: address, ...settings }: ReturnType<typeof loadConfig<typeof limitFields>>,
  replica: Replica,
): Promise<Limits> =>
  address === undefined ? createLocalLimits(replica) : createSharedLimits({ ...settings, ...replica, url: address })
