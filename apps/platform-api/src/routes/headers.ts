import { accessSchema, type openApiDocument } from "@svc/openapi"
import type { Api } from "./api.ts"

type Operation = NonNullable<NonNullable<ReturnType<typeof openApiDocument>["paths"]>[string]["get"]>

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

export const registerHeaders = (api: Api): void => {
  for (const [name, header] of Object.entries(described)) api.openAPIRegistry.registerComponent("headers", name, header)
}

const asked = (name: string, description: string) =>
  ({ schema: { ...text, description }, required: false, description, name, in: "header" }) as const

type Traits = ReturnType<typeof traitsOf>

const traitsOf = (method: string, path: string, operation: Operation) => {
  const { "x-access": access, parameters = [], responses = {}, tags = [], requestBody } = operation
  const { callers } = accessSchema.parse(access)
  const takesKey = callers.includes("anyone") && callers.length > 1
  return {
    takesKey,
    // Before the key is good nothing is counted.
    countsAloud: takesKey || path === "/ws/sessions",
    isTagged: responses["304"] !== undefined,
    isConditional: responses["412"] !== undefined,
    isPaged: parameters.some((one) => "name" in one && one.name === "offset"),
    // Responses to these changes are kept under the Idempotency-Key.
    isKept: tags.includes("records") && method === "post" && requestBody !== undefined,
    isStream: JSON.stringify(responses["200"]?.content ?? {}).includes('"text/event-stream"'),
    isOfStack: takesKey && path.includes("{"),
  }
}

/** The headers of a request that an operation looks at, besides the key's. */
const askedHeaders = ({ isTagged, isKept, isConditional, isStream }: Traits) => [
  ...(isTagged ? [asked("If-None-Match", "A previous ETag. The response is 304 if nothing changed")] : []),
  ...(isKept
    ? [
        asked(
          "Idempotency-Key",
          "1 to 64 printable characters of your choice. The same request within a day gets the same response",
        ),
      ]
    : []),
  ...(isConditional
    ? [asked("If-Match", "The ETag of the spec as you read it. The response is 412 if it changed since")]
    : []),
  ...(isStream ? [asked("Last-Event-ID", "The id of the last event received. Later events follow")] : []),
]

/** The headers of one response of an operation. */
const headersOf = (status: number, traits: Traits) => {
  const names: HeaderName[] = ["X-Request-Id"]
  if (status >= 400) names.push("X-Error-Code")
  if (status === 401) names.push("WWW-Authenticate")
  if (status === 429 || status === 503) names.push("Retry-After")
  if (traits.countsAloud && status !== 401) names.push("RateLimit-Policy", "RateLimit")
  if (traits.takesKey) names.push("X-Auth-Ignored")
  if (traits.isTagged && (status === 200 || status === 304)) names.push("ETag")
  if (traits.isPaged && status === 200) names.push("Link")
  if (traits.isKept && status < 300) names.push("Location", "Idempotency-Replayed")
  if (traits.isOfStack && status < 400) names.push("Deprecation")
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Describes, in place, the headers of every request and response in the document, which follow from the operation. */
export const describeHeaders = ({ paths = {} }: ReturnType<typeof openApiDocument>): void => {
  for (const [path, item] of Object.entries(paths))
    for (const method of ["get", "post", "put", "delete"] as const) {
      const operation = item[method]
      if (operation === undefined) continue
      const traits = traitsOf(method, path, operation)
      const { requestBody, responses = {}, ...rest } = operation
      const parameters = [...(rest.parameters ?? []), ...askedHeaders(traits)]
      item[method] = {
        ...rest,
        ...(parameters.length > 0 && { parameters }),
        ...(requestBody && { requestBody }),
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, { content, description }]) => [
            status,
            {
              description,
              headers: headersOf(Number(status), traits),
              ...(content && Object.keys(content).length > 0 && { content }),
            },
          ]),
        ),
      }
    }
}
