import { createHash } from "node:crypto"
import { matchesETag, requestHeader, type Served } from "@svc/http"

/** A caller's own data: may be kept, must be asked for again each time, and a 304 says that nothing changed. */
export const sendOwn = (c: Served, body: string, headers: Readonly<Record<string, string>> = {}) => {
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`
  const all = { ...headers, etag, "cache-control": "private, no-cache" }
  if (matchesETag(requestHeader(c, "if-none-match"), [etag])) return new Response(null, { status: 304, headers: all })
  return new Response(body, { headers: { ...all, "content-type": "application/json" } })
}
