import { lookup } from "node:dns/promises"
import { parseJson } from "@svc/common/json-object"
import { request } from "undici"
import { type Finding, fail, pass, warn } from "./doctor.ts"

const deadlineMs = 8_000

const unknownAuthority =
  "This machine doesn't know its authority: export NODE_EXTRA_CA_CERTS with the path of its root certificate. Node doesn't read it from an --env-file."
/** The next step for a certificate that isn't valid yet. */
export const notYetValid = "Synchronise this machine's clock (NTP), or wait until the certificate is valid."
const noTls = "It has no TLS at this port: use http://, or its TLS port."
/** The next step after a failure that names its own reason. */
const steps: Readonly<Record<string, string>> = {
  ENOTFOUND: "Correct the host name: no name server knows it.",
  EAI_AGAIN: "Check this machine's name server: it doesn't respond.",
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  CERT_NOT_YET_VALID: notYetValid,
  CERT_HAS_EXPIRED: "Renew its certificate, or that of its authority, which can be in NODE_EXTRA_CA_CERTS.",
  ERR_TLS_CERT_ALTNAME_INVALID: "Use the name that its certificate is for, or a certificate for this name.",
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  EPROTO: noTls,
}

/** The next step after a failure with this code, or `otherwise`. */
export const stepAfter = (code: string, otherwise: string): string => steps[code] ?? otherwise

/** A service of this product. */
export type Service = "docs-server" | "relay" | "platform-api"
const marks: Readonly<Record<Service, string>> = {
  "docs-server": "pages",
  relay: "transactions",
  "platform-api": "database",
}

/** The service whose `/health` has this body. */
export const serviceOf = (body: unknown): Service | undefined =>
  (Object.keys(marks) as Service[]).find((name) => marks[name] in Object(body))

/** A response, or why there is none, as a code such as ECONNREFUSED. */
type Answer =
  | {
      readonly status: number
      /** The value of a header, by its name in lower case. */
      readonly header: (name: string) => string | undefined
      /** Parsed, if it is JSON. */
      readonly body: unknown
    }
  | { readonly reason: string }

/** What is wrong with a setting whose URL is answered by a redirect, which no client of an API follows. */
export const redirected = (check: string, variable: string, url: string, answer: Answer): Finding | undefined => {
  if ("reason" in answer || answer.status < 300 || answer.status >= 400) return undefined
  const target = URL.parse(answer.header("location") ?? "", url)?.origin ?? "elsewhere"
  return fail(check, `${variable} redirects to ${target}`, `Set it to the URL that clients end up at.`)
}

const reasonOf = (error: unknown): string => {
  const { cause, code, name } = Object(error) as { cause?: unknown; code?: unknown; name?: unknown }
  if (cause !== undefined) return reasonOf(cause)
  return name === "TimeoutError" ? `no response within ${deadlineMs / 1000} s` : String(code ?? name)
}

/**
 * The code of why a host name can't be looked up, such as ENOTFOUND; undefined if it can. It waits as long as the machine's resolver does,
 * usually 10 s for a silent name server, so call it before a deadline starts.
 *
 * @param host a name or an address; one of IPv6 may be in brackets
 */
export const lookupFailure = (host: string): Promise<string | undefined> =>
  lookup(host.replace(/^\[|\]$/g, "")).then(
    () => undefined,
    (error: unknown) => String(Object(error).code),
  )

/** Makes one request, without following redirects. */
export const ask = async (
  url: string,
  options: {
    readonly method?: "POST"
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  } = {},
): Promise<Answer> => {
  try {
    const unknown = await lookupFailure(new URL(url).hostname)
    if (unknown !== undefined) return { reason: unknown }
    const { statusCode, headers, body } = await request(url, { ...options, signal: AbortSignal.timeout(deadlineMs) })
    const header = (name: string) => [headers[name]].flat()[0]
    return { status: statusCode, header, body: parseJson(await body.text()) }
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}

// Session tokens allow five seconds (docs: Session tokens).
const toleratedMs = 5_000

/**
 * Compares this machine's clock with another's.
 *
 * @param source whose clock it is
 * @param theirs its time in milliseconds since 1970; NaN if it doesn't tell
 * @param ours this machine's, before and after the request
 * @param graininessMs how exactly the source tells its time: a Date header has whole seconds
 */
export const checkClock = (
  source: string,
  theirs: number,
  [before, after]: readonly [before: number, after: number],
  graininessMs = 1_000,
): readonly Finding[] => {
  if (Number.isNaN(theirs)) return []
  // The other clock was read at any moment of the request.
  const offMs = Math.max(0, before - theirs - graininessMs, theirs - after)
  const text = `the clock differs by ${(offMs / 1000).toFixed(1)} s from ${source}`
  const next = "Synchronise this machine's clock (NTP); session tokens allow 5 s."
  if (offMs > toleratedMs) return [fail("clock", text, next)]
  return [offMs > 1_000 ? warn("clock", text, next) : pass("clock", text)]
}
