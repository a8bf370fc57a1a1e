import type { Bucket, Place } from "./limits.ts"

/** A key under which a request is counted, and its kind: each kind has a maximum number of keys. */
export type Prefix = { readonly key: string; readonly kind: string }

const ipv6 = /^(.* )?([\da-f]{16})\/64$/
const site = /^(.* )?([\da-f]{12})\/48$/
const ipv4 = /^(.* )?(\d+)\.(\d+)\.(\d+)\.\d+$/

/** The prefixes of an address, narrowest first, and the owner before it; undefined for any other key. */
const readAddress = (key: string) => {
  const [, owner48 = "", short] = site.exec(key) ?? []
  if (short !== undefined) {
    const wider = { key: `${owner48}${short.slice(0, 8)}/32`, kind: "site /32" }
    return { owner: owner48, family: "site", prefixes: [{ key, kind: "site /48" }, wider] }
  }
  const [, owner6 = "", digits] = ipv6.exec(key) ?? []
  if (digits !== undefined) {
    const shortened = (bits: number) => `${owner6}${digits.slice(0, bits / 4)}/${bits}`
    const prefixes = [64, 56, 48, 32].map((bits): Prefix => ({ key: shortened(bits), kind: `ipv6 /${bits}` }))
    return { owner: owner6, family: "ipv6", prefixes }
  }
  const [, owner = "", a, b, c] = ipv4.exec(key) ?? []
  if (c === undefined) return undefined
  const prefixes: Prefix[] = [
    { key, kind: "ipv4 /32" },
    { key: `${owner}${a}.${b}.${c}/24`, kind: "ipv4 /24" },
    { key: `${owner}${a}.${b}/16`, kind: "ipv4 /16" },
  ]
  return { owner, family: "ipv4", prefixes }
}

/**
 * The keys under which a request can be counted: its own first, then wider and wider prefixes. A client address, as
 * `addressBucket` writes it, shares a key with its network. An address after an owner and a space (`key:7 192.0.2.1`) finally
 * shares one with the owner's other addresses. Any other key shares one with all others.
 */
export const prefixesOf = (key: string): readonly Prefix[] => {
  const { owner, family, prefixes } = readAddress(key) ?? { owner: "", family: "", prefixes: [{ key, kind: "other" }] }
  return [...prefixes, ...(owner === "" ? [{ key: family, kind: "all" }] : prefixesOf(owner.trimEnd()))]
}

/** All addresses of an IPv6 /48, which is what one site owns, may do together what this many of its /64 networks may. */
export const addressesPerNetwork = 16

/** The key that an IPv6 address shares with its /48, and their limit; undefined for any other key. */
const networkOf = (address: string, limit: number) => {
  const [, owner = "", digits] = ipv6.exec(address) ?? []
  if (digits === undefined || limit <= 0) return undefined
  return { key: `${owner}${digits.slice(0, 12)}/48`, limit: addressesPerNetwork * limit }
}

/** A bucket of an IPv6 address, with the one that it shares with its /48; any other one alone. */
export const withNetwork = (bucket: Bucket): readonly Bucket[] => {
  const network = networkOf(bucket.key, bucket.limit)
  // Not the group's, where addresses that have no room of their own are counted under such a key.
  return network === undefined ? [bucket] : [bucket, { ...bucket, group: `${bucket.group} of a network`, ...network }]
}

/** The places of an address in a pool of its own and, if it is of IPv6, in one of its /48. */
export const placesOf = (name: string, address: string, limit: number): readonly Place[] => {
  const own = { pool: `${name} ${address}`, limit }
  const network = networkOf(address, limit)
  return network === undefined ? [own] : [own, { pool: `${name} ${network.key}`, limit: network.limit }]
}
