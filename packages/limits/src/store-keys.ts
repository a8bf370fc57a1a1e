import { hash } from "node:crypto"
import type { Bucket, Place } from "./limits.ts"

/** A key in the store, and the limit that one request has there. */
export type Limited = { readonly key: string; readonly limit: number }

const remembered = 10_000

/**
 * Makes the names of a service's keys. All are in one slot of a cluster, because a script uses several. They are hashes, so
 * the store doesn't learn addresses and subjects.
 */
export const createStoreKeys = (prefix: string, service: string) => {
  const known = new Map<string, string>()
  const keyOf = (kind: string, name: string): string => {
    const made = known.get(name)
    if (made !== undefined) return made
    const key = `${prefix}:{${service}}:${kind}:${hash("sha256", name, "base64url").slice(0, 22)}`
    if (known.size >= remembered) known.clear()
    known.set(name, key)
    return key
  }
  return {
    replicas: `${prefix}:{${service}}:replicas`,
    bucket: ({ table, group, key, limit }: Bucket): Limited => ({
      key: keyOf("rate", `${table}\0${group}\0${key}`),
      limit,
    }),
    place: ({ pool, limit }: Place): Limited => ({ key: keyOf("place", `\0${pool}`), limit }),
  }
}
