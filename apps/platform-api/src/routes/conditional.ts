import { matchesETag, requestHeader, type Served } from "@svc/http"
import { tagOf } from "../registry/answer.ts"

/** A caller's own data: may be kept, must be asked for again each time, and a 304 says that nothing changed. */
export const sendOwn = (c: Served, body: string, headers: Readonly<Record<string, string>> = {}) => {
  const etag = `"${tagOf(body)}"`
  const all = { ...headers, etag, "cache-control": "private, no-cache" }
  if (matchesETag(requestHeader(c, "if-none-match"), [etag])) return new Response(null, { status: 304, headers: all })
  return new Response(body, { headers: { ...all, "content-type": "application/json" } })
}
