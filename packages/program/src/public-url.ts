import { isIP } from "node:net"
import { connect } from "node:tls"
import { isLoopback } from "@svc/common/loopback"
import { type Finding, fail, pass, warn } from "./doctor.ts"
import { ask, notYetValid, redirected, type Service, serviceOf, stepAfter } from "./requests.ts"

type Validity = { readonly from: number; readonly to: number }

/** From when to when a server's certificate is valid, in milliseconds since 1970; undefined if it shows none. */
const validityOf = ({ hostname, port }: URL): Promise<Validity | undefined> =>
  new Promise((resolve) => {
    // Whether it is trusted is what the request has told.
    const host = hostname.replace(/^\[|\]$/g, "")
    // TLS has no server names that are addresses.
    const target = { host, port: Number(port || 443), servername: isIP(host) === 0 ? host : "" }
    const socket = connect({ ...target, rejectUnauthorized: false })
    const end = (validity?: Validity): void => {
      socket.destroy()
      resolve(validity)
    }
    socket.setTimeout(5_000, () => end())
    socket.on("error", () => end())
    socket.on("secureConnect", () => {
      const { valid_from: from, valid_to: to } = socket.getPeerCertificate()
      end({ from: Date.parse(from), to: Date.parse(to) })
    })
  })

/** Whether a URL is set and isn't one of this machine. */
export const isPublic = (url: string | undefined): boolean => url !== undefined && !isLoopback(new URL(url).hostname)

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const certificate = async (variable: string, url: URL, at: number): Promise<readonly Finding[]> => {
  const { from, to } = (await validityOf(url)) ?? {}
  if (from === undefined || to === undefined || Number.isNaN(to - from)) return []
  const next = "Renew it, and look why it wasn't renewed by itself."
  if (from > at) return [fail("certificate", `the certificate of ${variable} isn't valid yet`, notYetValid)]
  if (to < at) return [fail("certificate", `the certificate of ${variable} has expired`, next)]
  const left = to - at
  const text = `the certificate of ${variable} ends in ${left < 2 * dayMs ? `${Math.floor(left / hourMs)} hours` : `${Math.floor(left / dayMs)} days`}`
  // ACME clients renew when a third is left, also of certificates that live for hours.
  const isLate = left < Math.min(14 * dayMs, (to - from) / 6)
  return [isLate ? warn("certificate", text, next) : pass("certificate", text)]
}

/**
 * Makes a request through the public URL: whether it arrives at a running replica, whose address that replica sees, and
 * when the certificate ends.
 *
 * @param service whose URL it is
 * @param variable the setting that has the URL
 * @param url undefined while it isn't set
 * @param at now, in milliseconds since 1970
 */
export const checkPublicUrl = async (
  service: Service,
  variable: string,
  url: string | undefined,
  at: number,
): Promise<readonly Finding[]> => {
  const check = "public-url"
  if (url === undefined) {
    const unset = `${variable} isn't set: clients are told a URL of this machine`
    return [warn(check, unset, `Set ${variable} to the URL that clients use.`)]
  }
  const target = new URL(url)
  const answer = await ask(`${url}/livez`, { headers: { "x-svc-doctor": "1" } })
  const ends = target.protocol === "https:" ? await certificate(variable, target, at) : []
  if ("reason" in answer) {
    const next = stepAfter(answer.reason, "Start the service and the proxy, then run doctor again.")
    return [...ends, warn(check, `${url} doesn't respond (${answer.reason})`, next)]
  }
  const elsewhere = redirected(check, variable, url, answer)
  if (elsewhere !== undefined) return [...ends, elsewhere]
  if (answer.status !== 200) {
    const next = `Correct ${variable}, its path too, or point the proxy at the service's port.`
    return [...ends, fail(check, `${url}/livez returns ${answer.status}`, next)]
  }
  const health = await ask(`${url}/health`)
  const there = "body" in health ? serviceOf(health.body) : undefined
  if (there !== service) {
    const next = `Set it to the URL of ${service}, or correct the proxy.`
    return [...ends, fail(check, `${variable} leads to ${there ?? "another server"}`, next)]
  }
  const found = [...ends, pass(check, `${url} responds`)]
  const seen = answer.header("x-svc-client-address")
  if (seen === undefined) return found
  const [address = "", forwarded] = seen.split("; ")
  if (forwarded === "ignored") {
    const text = "the proxy's forwarding header is ignored: all clients share one limit"
    const next = "Set SVC_TRUSTED_PROXY_CIDRS to the proxy's network: its address is in the log's warning."
    return [...found, fail("client-address", text, next)]
  }
  if (forwarded === "none" && target.protocol === "https:" && isPublic(url)) {
    const text = `the proxy hides its clients: all of them count as ${address}`
    const next = "Let the proxy set X-Forwarded-For, and set SVC_TRUSTED_PROXY_CIDRS."
    return [...found, fail("client-address", text, next)]
  }
  return [...found, pass("client-address", `this request came from ${address}`)]
}
