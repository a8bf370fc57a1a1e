import { BlockList, isIP, isIPv4 } from "node:net"
import { isLoopback } from "@svc/common/loopback"
import ipaddr from "ipaddr.js"
import type { Logger } from "pino"

/** A network whose hosts are proxies that name their clients: canonical address, prefix length in bits. */
export type TrustedNetwork = { readonly address: string; readonly prefix: number; readonly family: "ipv4" | "ipv6" }

/** Tells clients apart by their addresses. */
export type ClientAddress = {
  /**
   * The address that a request comes from.
   * @param peer the connection's other end; undefined once it is gone
   * @param forwardedFor `X-Forwarded-For`
   */
  readonly of: (peer: string | undefined, forwardedFor?: string | string[]) => string
  /** Whether the connection's other end is a trusted proxy. */
  readonly isProxy: (peer: string | undefined) => boolean
  /** Whether the connection's other end decides which traces are kept: a trusted proxy, or a program of this machine. */
  readonly trustsTraces: (peer: string | undefined) => boolean
}

const ignored = "a forwarding header from an untrusted peer was ignored: see SVC_TRUSTED_PROXY_CIDRS"
const mapped = "::ffff:"

const canonical = (text: string): string | undefined => {
  if (isIPv4(text)) return text
  if (text.startsWith(mapped) && isIPv4(text.slice(mapped.length))) return text.slice(mapped.length)
  if (isIP(text) === 0) return undefined
  return ipaddr.process(text.replace(/%.*$/, "")).toString()
}

// A hop may carry a port (`192.0.2.1:80`, `[2001:db8::1]:80`) or brackets alone.
const hopAddress = (hop: string): string | undefined => {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1]
  return canonical(bracketed ?? hop.replace(/^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/, "$1"))
}

/**
 * Forwarding headers count only when the direct peer is in a trusted network; they are then read from the right past trusted
 * hops to the first untrusted one. A malformed or empty hop ends this at the last valid address. IPv4-mapped IPv6 is IPv4.
 * @param log warned once, at the first forwarding header from an untrusted peer
 */
export const createClientAddress = (trusted: readonly TrustedNetwork[], log?: Pick<Logger, "warn">): ClientAddress => {
  const networks = new BlockList()
  for (const { address, prefix, family } of trusted) networks.addSubnet(address, prefix, family)
  const isTrusted = (address: string): boolean =>
    trusted.length > 0 && networks.check(address, isIPv4(address) ? "ipv4" : "ipv6")
  // A socket that is already gone has no peer: such requests share one address.
  const peerAddress = (peer: string | undefined): string => canonical(peer ?? "") ?? "0.0.0.0"
  let warned = false
  return {
    isProxy: (peer) => isTrusted(peerAddress(peer)),
    trustsTraces: (peer) => isTrusted(peerAddress(peer)) || isLoopback(peerAddress(peer)),
    of: (peer, forwardedFor) => {
      let address = peerAddress(peer)
      if (forwardedFor === undefined) return address
      if (!isTrusted(address)) {
        if (!warned) log?.warn({ peer: address }, ignored)
        warned = true
        return address
      }
      const hops = String(forwardedFor).split(",")
      for (let hop = hops.pop(); hop !== undefined; hop = hops.pop()) {
        const next = hopAddress(hop.trim())
        if (next === undefined) return address
        address = next
        if (!isTrusted(address)) return address
      }
      return address
    },
  }
}

/** The text under which a client address is counted: IPv4 as it is, IPv6 by its /64, which is what one client owns, in 16 digits. */
export const addressBucket = (address: string): string =>
  address.includes(":") ? `${Buffer.from(ipaddr.IPv6.parse(address).toByteArray()).toString("hex", 0, 8)}/64` : address

/** The network of a counted address: of IPv6 the /48, which is what one site owns; of anything else itself. */
export const bucketNetwork = (bucket: string): string => (bucket.endsWith("/64") ? `${bucket.slice(0, 12)}/48` : bucket)

/** The network that an address is in: of IPv4 the /24, of IPv6 the /64. Enough to see a pattern, not enough to identify a person. */
export const addressNetwork = (address: string): string => {
  const [kind, bits] = address.includes(":") ? ([ipaddr.IPv6, 64] as const) : ([ipaddr.IPv4, 24] as const)
  return `${kind.networkAddressFromCIDR(`${address}/${bits}`).toString()}/${bits}`
}
