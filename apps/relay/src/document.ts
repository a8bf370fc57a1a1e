import { z } from "zod"
import { requestIdHeader } from "@svc/http"
import { limitsModes } from "@svc/limits"
import { createRoute, errorResponses, openApiDocument } from "@svc/openapi"
import type { MiddlewareHandler } from "hono"
import { networks } from "./chain.ts"
import { u64 } from "./routes/fields.ts"
import { badRequestCodes, type ErrorCode, errors } from "./errors.ts"
import type { Definition, RelayApp } from "./routes/route.ts"

/** The body of every error. */
export const errorEnvelope = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean().meta({ description: "Whether the same request may succeed later." }),
  requestId: z.string(),
  submissionState: z
    .enum(["not_submitted", "unknown"])
    .optional()
    .meta({ description: "On every error of send: `not_submitted` if that is proven, else `unknown`." }),
  signature: z.string().optional().meta({
    description: "On errors of send, once the request is checked: the transaction's first signature, to look up.",
  }),
  hint: z.string().optional().meta({ description: "The next step, in one sentence." }),
  docs: z.url().meta({ description: "The documentation of the code." }),
  details: z
    .union([
      z.strictObject({ path: z.string(), reason: z.string() }),
      z.strictObject({
        code: z.int(),
        message: z.string().max(256),
        data: z
          .strictObject({
            err: z.union([z.null(), z.string(), z.record(z.string(), z.any())]),
            logs: z.array(z.string()),
            unitsConsumed: u64,
          })
          .partial()
          .optional(),
      }),
    ])
    .meta({ id: "ErrorDetails", description: "The first fault of a rejected body, or the provider's error." })
    .optional(),
})

/** The response at the bare address. */
export const aboutResponse = z.object({
  name: z.string(),
  version: z.string(),
  docs: z.url(),
  openapi: z.url(),
  health: z.url(),
})

export const healthResponse = z.object({
  status: z.literal("ok"),
  version: z.string(),
  limits: z
    .enum(limitsModes)
    .meta({ description: "Where the limits are counted: in a store for all replicas, or in each replica." }),
  transactions: z.object({
    enabled: z.boolean(),
    answering: z
      .string()
      .optional()
      .meta({ description: "With fallbacks for reads: the provider that responded last.", example: "fallback-1" }),
    chain: z
      .object({
        genesis_hash: z.string().meta({ description: "The chain's genesis hash, base58." }),
        network: z
          .string()
          .optional()
          .meta({
            description: `The name of a public network: ${Object.values(networks).join(", ")}.`,
            example: "devnet",
          }),
        faucet: z
          .url()
          .optional()
          .meta({ description: "For a chain on this machine: the URL where `requestAirdrop` gives test funds." }),
      })
      .optional()
      .meta({ description: "With `chain=true`: the provider's chain, if it is known." }),
  }),
})

export const probeResponse = z.object({
  status: z.enum(["ok", "unavailable"]),
  missing: z.array(z.enum(["session-keys", "time"])).meta({ description: "`time`: the relay is stopping." }),
})

// Error codes that not every route can return.
const notEverywhere = new Set<ErrorCode>([
  ...badRequestCodes,
  "submission_unknown",
  "upstream_timeout",
  "method_not_allowed",
  "not_implemented",
])
const everywhere = (Object.keys(errors.rows) as ErrorCode[]).filter((code) => !notEverywhere.has(code))

const header = (text: string, type: "string" | "integer" = "string") => ({ description: text, schema: { type } })
export const headers = {
  "X-Request-Id": requestIdHeader,
  "X-Svc-Upstream-Attempted": header("`true` once the provider is called, else `false`."),
}
const errorHeaders = { ...headers, "X-Error-Code": header("The `code` of the body.") }
export const waitHeaders = { ...errorHeaders, "Retry-After": header("Seconds to wait, a whole number.", "integer") }

export const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { "application/json": { schema } } })

const envelope = (isSend: boolean) => (codes: readonly [string, ...string[]]) => {
  const error = errorEnvelope.extend({ code: z.enum(codes) })
  if (!isSend) return error
  // A 502 comes after the call to the provider, when the signature is known.
  const isLate = codes.some((code) => code in errors.rows && errors.rows[code as ErrorCode].status === 502)
  return error.required({ submissionState: true, ...(isLate && { signature: true }) })
}

/** The error responses of a route. */
export const failures = (isSend: boolean, codes: readonly ErrorCode[]): object => {
  // The 502 of a read has it if the provider limits the rate and says for how long.
  const hasWait = new Set(["429", "503", ...(isSend ? [] : ["502"])])
  return Object.fromEntries(
    Object.entries(errorResponses(errors, envelope(isSend), ...codes)).map(([status, response]) => [
      status,
      { ...response, headers: hasWait.has(status) ? waitHeaders : errorHeaders },
    ]),
  )
}

const security = "sessionToken"

/** Describes a route to the provider. @param middleware the middlewares before its handler */
export const describeRoute = <D extends Definition, M extends MiddlewareHandler[]>(definition: D, middleware: M) => {
  const isSend = definition.class === "send"
  const codes: ErrorCode[] = [
    "invalid_request",
    ...everywhere,
    ...definition.codes,
    isSend ? "submission_unknown" : "upstream_timeout",
  ]
  const late = { description: "`submission_unknown`: the provider didn't respond in time.", headers: errorHeaders }
  return createRoute({
    method: "post",
    path: definition.path,
    operationId: definition.operation,
    summary: definition.summary,
    description: `Calls \`${definition.method}\`.`,
    tags: ["transactions"],
    security: [{ [security]: [] }],
    "x-access": { callers: ["session"], scope: definition.scope },
    middleware,
    request: { body: { required: true, ...json<D["request"]>(definition.request) } },
    responses: {
      200: { description: "The provider's response.", headers, ...json<D["response"]>(definition.response) },
      ...failures(isSend, codes),
      ...(isSend && ({ 504: { ...late, ...json(envelope(true)(["submission_unknown"])) } } as object)),
    },
  })
}

const description = `Inspects and submits signed Solana transactions through one RPC provider. It has a few fixed routes, each for one RPC method.

The relay never receives a signing key. Integers of 64 bits are decimal strings; transactions and messages are canonical base64.
The relay calls the provider once for each send. Every error of a send has \`submissionState\`: \`not_submitted\` if that is proven, else \`unknown\`. If it is \`unknown\`, look up the \`signature\` before anything else.`

const tags = [
  { name: "transactions", description: "The routes to the provider." },
  { name: "service", description: "The service." },
]

/** The OpenAPI 3.1 document of a relay. */
export const describeRelay = (app: RelayApp, version: string, publicUrl: string) => {
  app.openAPIRegistry.registerComponent("securitySchemes", security, {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A session token of the platform with the scope of the route.",
  })
  return openApiDocument(app, { title: "Transaction relay", version, description, tags }, [{ url: publicUrl }])
}
