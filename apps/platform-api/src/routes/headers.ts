import { z } from "@svc/openapi"
import type { Api } from "./endpoint.ts"

const integer = { type: "integer", minimum: 1 } as const
const text = { type: "string" } as const

/** Every header of an answer that the document describes. */
const described = {
  "X-Request-Id": {
    description: "Names the request in the service's log; the caller's own where it sent one",
    schema: text,
  },
  "X-Error-Code": { description: "The code in the body", schema: text },
  "Retry-After": { description: "Seconds to wait before the same request again", schema: integer },
  "WWW-Authenticate": { description: 'Bearer, with error="invalid_token" when a key was sent', schema: text },
  "RateLimit-Policy": { description: 'Requests (q) in a window of seconds (w): "default";q=300;w=60', schema: text },
  RateLimit: {
    description: 'Requests that are left (r), seconds until one more is (t): "default";r=299;t=42',
    schema: text,
  },
  "X-Auth-Ignored": { description: "Why the key that was sent counts as none: an error code", schema: text },
  ETag: { description: "Names the content, for If-None-Match", schema: text },
  Link: { description: 'The next page, with rel="next", when there is one', schema: text },
  Location: { description: "The path of the record to follow, where there is one", schema: text },
  "Idempotency-Replayed": { description: "true: an answer from before, under the same Idempotency-Key", schema: text },
  Deprecation: { description: "Since when the stack is deprecated: @ and unix seconds (RFC 9745)", schema: text },
} as const

type HeaderName = keyof typeof described

const askedHeader = (description: string) => z.string().optional().meta({ description })

/** Every header of a request that the document describes, besides the key's. */
const asked = {
  "If-None-Match": askedHeader("An ETag from before: 304 when nothing changed"),
  "If-Match": askedHeader("The ETag of the spec as it was read: 412 when it changed since"),
  "Idempotency-Key": askedHeader(
    "1 to 64 printable characters of the caller's choice: the same request again within a day gets the same answer",
  ),
  "Last-Event-ID": askedHeader("The id of the last event that came: those after it follow"),
} as const

export type AskedHeader = keyof typeof asked

/** The headers that an endpoint looks at, as a schema; undefined for none. */
export const askedHeaders = (names: readonly AskedHeader[]) =>
  names.length === 0 ? undefined : z.object(Object.fromEntries(names.map((name) => [name, asked[name]])))

export const registerHeaders = (api: Api): void => {
  for (const [name, header] of Object.entries(described)) api.openAPIRegistry.registerComponent("headers", name, header)
}

/** The headers of one answer of an endpoint. */
export const headersOf = (
  status: number,
  endpoint: {
    readonly readsKey: boolean
    readonly countsAloud: boolean
    readonly isTagged: boolean
    readonly isPaged: boolean
    readonly isKept: boolean
    readonly isOfStack: boolean
  },
) => {
  const names: HeaderName[] = ["X-Request-Id"]
  if (status >= 400) names.push("X-Error-Code")
  if (status === 401) names.push("WWW-Authenticate")
  if (status === 429 || status === 503) names.push("Retry-After")
  // Before the key is good nothing is counted.
  if (endpoint.countsAloud && status !== 401) names.push("RateLimit-Policy", "RateLimit")
  if (endpoint.readsKey) names.push("X-Auth-Ignored")
  if (endpoint.isTagged && (status === 200 || status === 304)) names.push("ETag")
  if (endpoint.isPaged && status === 200) names.push("Link")
  if (endpoint.isKept && status < 300) names.push("Location", "Idempotency-Replayed")
  if (endpoint.isOfStack && status < 400) names.push("Deprecation")
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
