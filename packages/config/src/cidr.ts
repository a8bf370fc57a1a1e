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
  const bytes = address
    .toByteArray()
    .map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, prefix - i * 8))) & 0xff)
  return { address: ipaddr.fromByteArray(bytes).toString(), prefix, family: address.kind() }
}
