/** A key under which a request is counted, and its kind: each kind has a maximum number of keys. */
export type Prefix = { readonly key: string; readonly kind: string }

const ipv6 = /^(.* )?([\da-f]{16})\/64$/
const ipv4 = /^(.* )?(\d+)\.(\d+)\.(\d+)\.\d+$/

/** The prefixes of an address, narrowest first, and the owner before it; undefined for any other key. */
const readAddress = (key: string) => {
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
