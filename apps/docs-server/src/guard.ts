import { hostNameOf, isLoopback } from "@svc/common/loopback"

const hostOf = (host: string): string | undefined => hostNameOf(`http://${host}`)

type Served = { readonly listenHost: string; readonly baseUrl: string; readonly allowedHosts: readonly string[] }
export type Guard = (host: string | undefined, origin: string | undefined) => boolean

/**
 * Makes the check of Host and Origin that keeps a web page from reaching a server on its reader's own machine under
 * another name (DNS rebinding). A listener that others can reach checks Host when told its names, and welcomes any origin.
 */
export const createGuard = ({ listenHost, baseUrl, allowedHosts }: Served): Guard => {
  const names = new Set([hostNameOf(baseUrl), ...allowedHosts.map((name) => hostOf(name) ?? name.toLowerCase())])
  const known = (name: string | undefined): boolean => name !== undefined && (isLoopback(name) || names.has(name))
  if (!isLoopback(listenHost)) return allowedHosts.length === 0 ? () => true : (host) => known(hostOf(host ?? ""))
  return (host, origin) => known(hostOf(host ?? "")) && (origin === undefined || known(hostNameOf(origin)))
}
