import { createHash } from "node:crypto"
import { requestHeader, type Served } from "@svc/http"

/** Whether `If-None-Match` names one of these entity tags (RFC 9110 section 13.1.2: compared weakly). */
export const matchesTag = (header: string, tags: readonly string[]): boolean =>
  header.trim() === "*" || header.split(",").some((entry) => tags.includes(entry.trim().replace(/^W\//, "")))

/** A caller's own data: may be kept, must be asked for again each time, and a 304 says that nothing changed. */
export const sendOwn = (c: Served, body: string, headers: Readonly<Record<string, string>> = {}) => {
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`
  const all = { ...headers, etag, "cache-control": "private, no-cache" }
  const known = requestHeader(c, "if-none-match")
  if (known !== undefined && matchesTag(known, [etag])) return new Response(null, { status: 304, headers: all })
  return new Response(body, { headers: { ...all, "content-type": "application/json" } })
}

/** Whether the client takes gzip (RFC 9110 section 12.5.3). */
export const takesGzip = (header: string | undefined): boolean => {
  if (header === undefined) return false
  if (header === "gzip" || header.startsWith("gzip,")) return true
  let any = false
  for (const entry of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim())
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    if (name === "gzip" || name === "x-gzip") return !refused
    if (name === "*") any = !refused
  }
  return any
}
