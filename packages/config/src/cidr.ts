import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** A network: its address without host bits, and its prefix length. IPv4-mapped IPv6 becomes IPv4. */
export type Cidr = { readonly address: string; readonly prefix: number; readonly family: "ipv4" | "ipv6" }

/** Parses `10.0.0.0/8`, `fd00::/8` or a bare address (that one host); undefined for anything else. */
export const parseCidr = (text: string): Cidr | undefined => {
  const [host = "", length, ...rest] = text.split("/")
  if (rest.length > 0 || isIP(host) === 0 || host.includes("%")) return undefined
  if (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined
  let address = ipaddr.parse(host)
  let prefix = length === undefined ? address.toByteArray().length * 8 : Number(length)
  if (prefix > address.toByteArray().length * 8) return undefined
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= 96) {
    address = address.toIPv4Address()
    prefix -= 96
  }
  const family = address.kind()
  const network = (family === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(
    `${address.toString()}/${prefix}`,
  )
  return { address: network.toString(), prefix, family }
}
