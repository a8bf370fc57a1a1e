import { z } from "@svc/openapi"
import type { Api } from "./endpoint.ts"

const integer = { type: "integer", minimum: 1 } as const
const text = { type: "string" } as const

/** Every header of an answer that the document describes. */
const described = {
  "X-Request-Id": {
    description: "Identifies the request in the service's log. It is the caller's own if one was sent",
    schema: text,
  },
  "X-Error-Code": { description: "The code in the body", schema: text },
  "Retry-After": { description: "Seconds to wait before a retry", schema: integer },
  "WWW-Authenticate": { description: 'Bearer, with error="invalid_token" if a key was sent', schema: text },
  "RateLimit-Policy": { description: 'Requests (q) per window of seconds (w): "default";q=300;w=60', schema: text },
  RateLimit: {
    description: 'Remaining requests (r), seconds until one more is available (t): "default";r=299;t=42',
    schema: text,
  },
  "X-Auth-Ignored": { description: "The error code for which the key was ignored", schema: text },
  ETag: { description: "Identifies the content, for If-None-Match", schema: text },
  Link: { description: 'The next page, with rel="next", if there is one', schema: text },
  Location: { description: "The path of the record, if there is one", schema: text },
  "Idempotency-Replayed": { description: "true for a repeated response to the same Idempotency-Key", schema: text },
  Deprecation: { description: "When the stack was deprecated: @ and Unix seconds (RFC 9745)", schema: text },
} as const

type HeaderName = keyof typeof described

const askedHeader = (description: string) => z.string().optional().meta({ description })

/** Every header of a request that the document describes, besides the key's. */
const asked = {
  "If-None-Match": askedHeader("A previous ETag. The response is 304 if nothing changed"),
  "If-Match": askedHeader("The ETag of the spec as you read it. The response is 412 if it changed since"),
  "Idempotency-Key": askedHeader(
    "1 to 64 printable characters of your choice. The same request within a day gets the same response",
  ),
  "Last-Event-ID": askedHeader("The id of the last event received. Later events follow"),
} as const

export type AskedHeader = keyof typeof asked

/** The headers that an endpoint looks at, as a schema. */
export const askedHeaders = (names: readonly AskedHeader[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, asked[name]])))

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
