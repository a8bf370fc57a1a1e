import { isLoopback } from "@svc/common/loopback"

/** A URL's host name, without the dot at its end that makes it absolute: the same name. */
const nameIn = (url: string): string | undefined => URL.parse(url)?.hostname.replace(/\.$/, "")
const hostOf = (host: string): string | undefined => nameIn(`http://${host}`)

type Served = { readonly listenHost: string; readonly baseUrl: string; readonly allowedHosts: readonly string[] }
export type Guard = (host: string | undefined, origin: string | undefined) => boolean

/**
 * Makes the check of Host and Origin that keeps a web page from reaching a server on its reader's own machine under
 * another name (DNS rebinding). A listener that others can reach checks Host when told its names, and welcomes any origin.
 */
export const createGuard = ({ listenHost, baseUrl, allowedHosts }: Served): Guard => {
  const names = new Set([nameIn(baseUrl), ...allowedHosts.map((name) => hostOf(name) ?? name.toLowerCase())])
  const known = (name: string | undefined): boolean => name !== undefined && (isLoopback(name) || names.has(name))
  if (!isLoopback(listenHost)) return allowedHosts.length === 0 ? () => true : (host) => known(hostOf(host ?? ""))
  return (host, origin) => known(hostOf(host ?? "")) && (origin === undefined || known(nameIn(origin)))
}
