import { BlockList, isIPv6, type Socket } from "node:net"
import { type Context, createContextKey } from "@opentelemetry/api"
import type { TrustedNetwork } from "@svc/http"

const untrusted = createContextKey("the parent comes from an untrusted caller")

/** Marks a context whose parent comes from an untrusted caller, whose sampled flag must not decide about sampling. */
export const withUntrustedParent = (context: Context): Context => context.setValue(untrusted, true)

export const hasUntrustedParent = (context: Context): boolean => context.getValue(untrusted) === true

/** Whether a connection comes from this machine or from one of the networks. */
export const createTrust = (networks: readonly TrustedNetwork[]): ((socket: Socket) => boolean) => {
  const trusted = new BlockList()
  trusted.addSubnet("127.0.0.0", 8, "ipv4")
  trusted.addAddress("::1", "ipv6")
  for (const { address, prefix, family } of networks) trusted.addSubnet(address, prefix, family)
  return ({ remoteAddress: address }) =>
    address !== undefined && trusted.check(address, isIPv6(address) ? "ipv6" : "ipv4")
}
