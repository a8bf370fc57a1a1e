/** A key under which a request is counted, and its kind: each kind has a maximum number of keys. */
export type Prefix = { readonly key: string; readonly kind: string }

const ipv6 = /^(.* )?([\da-f]{16})\/64$/
const ipv4 = /^(.* )?(\d+)\.(\d+)\.(\d+)\.\d+$/

const prefixesOfAddress = (key: string): { owner: string; prefixes: Prefix[] } | undefined => {
  const [, owner6 = "", digits] = ipv6.exec(key) ?? []
  if (digits !== undefined) {
    const prefixes = [64, 56, 48, 32].map((bits) => ({
      key: `${owner6}${digits.slice(0, bits / 4)}/${bits}`,
      kind: `ipv6 /${bits}`,
    }))
    return { owner: owner6, prefixes: [...prefixes, { key: `${owner6}ipv6`, kind: "all" }] }
  }
  const [, owner4 = "", a, b, c] = ipv4.exec(key) ?? []
  if (c === undefined) return undefined
  const prefixes = [
    { key, kind: "ipv4 /32" },
    { key: `${owner4}${a}.${b}.${c}/24`, kind: "ipv4 /24" },
    { key: `${owner4}${a}.${b}/16`, kind: "ipv4 /16" },
    { key: `${owner4}ipv4`, kind: "all" },
  ]
  return { owner: owner4, prefixes }
}

/**
 * The keys under which a request can be counted: its own first, then wider and wider prefixes. A client address, as
 * `addressBucket` writes it, shares a key with its network. An address after an owner and a space (`key:7 192.0.2.1`) finally
 * shares one with the owner's other addresses. Any other key shares one with all others.
 */
export const prefixesOf = (key: string): readonly Prefix[] => {
  const address = prefixesOfAddress(key)
  if (address === undefined) {
    return [
      { key, kind: "other" },
      { key: "", kind: "all" },
    ]
  }
  const { owner, prefixes } = address
  return owner === "" ? prefixes : [...prefixes.slice(0, -1), ...prefixesOf(owner.trimEnd())]
}
