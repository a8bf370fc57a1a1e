import { hash } from "node:crypto"
import type { Bucket, Place } from "./limits.ts"

// Of what the scripts store. Replicas of a version with another encoding count for themselves.
const encoding = "v1"

/**
 * Makes the names of a service's keys. All are in one slot of a cluster, because a script uses several. They are hashes, so
 * the store doesn't learn addresses and subjects.
 */
export const createStoreKeys = (prefix: string, service: string) => {
  const keyOf = (kind: string, name: string): string =>
    `${prefix}:{${service}}:${encoding}:${kind}:${hash("sha256", name, "base64url").slice(0, 22)}`
  return {
    replicas: `${prefix}:{${service}}:${encoding}:replicas`,
    bucket: ({ table, group, key }: Bucket): string => keyOf("rate", `${table}\0${group}\0${key}`),
    place: ({ pool }: Place): string => keyOf("place", pool),
  }
}

/** All keys in which replicas announce themselves, in the form of the store's SCAN. */
export const anyReplicas = "*:replicas"

/** The prefix in the name of such a key, and the service. */
export const readReplicasKey = (key: string): { readonly prefix: string; readonly service: string } | undefined => {
  const [, prefix, service] = /^(.*):\{([^{}]+)\}:[^:]+:replicas$/.exec(key) ?? []
  return prefix === undefined || service === undefined ? undefined : { prefix, service }
}
