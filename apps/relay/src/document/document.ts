import { type Access, createApi, errorResponses, openApiDocument } from "@svc/openapi"
import { z } from "zod"
import { aboutResponse, errorEnvelope, healthResponse, probeResponse } from "./envelope.ts"
import { badRequestCodes, type ErrorCode, errors } from "../errors.ts"
import type { Route } from "../routes/route.ts"
import { routes } from "../routes/table.ts"

const description = `A narrow way for signed Solana transactions to one RPC provider: a few fixed routes, no other methods.

The relay never sees a signing key. Integers of 64 bits are decimal strings, transactions and messages canonical base64.
A send is handed to the provider once: on every error of it \`submissionState\` says whether the transaction is proven not
to have been submitted. When it is \`unknown\`, look the \`signature\` up before anything else.`

// Of some routes, or of none.
const notEverywhere = new Set<ErrorCode>([
  ...badRequestCodes,
  "submission_unknown",
  "upstream_timeout",
  "method_not_allowed",
  "not_implemented",
])
const everywhere = (Object.keys(errors.rows) as ErrorCode[]).filter((code) => !notEverywhere.has(code))

const header = (text: string, type: "string" | "integer" = "string") => ({ description: text, schema: { type } })
const headers = {
  "X-Request-Id": header("The request's id; a well-formed one of the caller's is kept."),
  "X-Svc-Upstream-Attempted": header("`true` from the moment the provider was called, else `false`."),
}
const errorHeaders = { ...headers, "X-Error-Code": header("The `code` of the body.") }
const waitHeaders = { ...errorHeaders, "Retry-After": header("Whole seconds to wait.", "integer") }

const json = (schema: z.ZodType) => ({ content: { "application/json": { schema } } })

const envelope = (isSend: boolean) => (codes: readonly [string, ...string[]]) => {
  const error = errorEnvelope.extend({ code: z.enum(codes) })
  return isSend ? error.required({ submissionState: true }) : error
}

const refusals = (isSend: boolean, codes: readonly ErrorCode[]) =>
  Object.fromEntries(
    Object.entries(errorResponses(errors, envelope(isSend), ...codes)).map(([status, response]) => [
      status,
      { ...response, headers: status === "429" || status === "503" ? waitHeaders : errorHeaders },
    ]),
  )

const security = "sessionToken"

const describeRoute = (route: Route) => {
  const isSend = route.class === "send"
  const codes: ErrorCode[] = [
    "invalid_request",
    ...everywhere,
    ...route.codes,
    isSend ? "submission_unknown" : "upstream_timeout",
  ]
  const late = { description: "`submission_unknown`: the provider didn't respond in time.", headers: errorHeaders }
  return {
    method: "post" as const,
    path: route.path,
    operationId: route.operation,
    summary: route.summary,
    description: `Calls \`${route.method}\`.`,
    tags: ["transactions"],
    security: [{ [security]: [] }],
    "x-access": { callers: ["session"], scope: route.scope } satisfies Access,
    request: { body: { required: true, ...json(route.request) } },
    responses: {
      200: { description: "The provider's response.", headers, ...json(route.response) },
      ...refusals(isSend, codes),
      ...(isSend && { 504: { ...late, ...json(envelope(true)(["submission_unknown"])) } }),
    },
  }
}

/** The OpenAPI 3.1 document, made from the schemas that validate. */
export const describeRelay = (version: string, publicUrl: string) => {
  const api = createApi()
  const registry = api.openAPIRegistry
  registry.registerComponent("securitySchemes", security, {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A session token of the platform, with the scope that the route names.",
  })
  for (const route of routes) registry.registerPath(describeRoute(route))
  const access: Access = { callers: ["anyone"] }
  const open = { method: "get" as const, tags: ["service"], security: [], "x-access": access }
  const busy = refusals(false, ["server_busy"])
  registry.registerPath({
    ...open,
    path: "/",
    operationId: "about",
    summary: "What this service is",
    description: "Where its documentation and its OpenAPI document are.",
    responses: { 200: { description: "The relay.", headers, ...json(aboutResponse) }, ...busy },
  })
  registry.registerPath({
    ...open,
    path: "/health",
    operationId: "health",
    summary: "Health",
    description: "Whether the relay is up, and whether its routes are enabled.",
    responses: { 200: { description: "It is up.", headers, ...json(healthResponse) }, ...busy },
  })
  const probe = (meaning: string) => ({ description: meaning, headers, ...json(probeResponse) })
  registry.registerPath({
    ...open,
    path: "/livez",
    operationId: "livez",
    summary: "Liveness",
    description: "Whether the process serves.",
    responses: { 200: probe("The process serves.") },
  })
  registry.registerPath({
    ...open,
    path: "/readyz",
    operationId: "readyz",
    summary: "Readiness",
    description: "Whether the relay is ready: it has a key to verify tokens with, and isn't stopping.",
    responses: { 200: probe("It is ready."), 503: probe("What `missing` names is not there.") },
  })
  registry.registerPath({
    ...open,
    path: "/openapi.json",
    operationId: "openapi",
    summary: "OpenAPI document",
    responses: { 200: { description: "OpenAPI 3.1.", headers, ...json(z.record(z.string(), z.any())) }, ...busy },
  })
  const tags = [
    { name: "transactions", description: "The routes to the provider." },
    { name: "service", description: "The relay itself." },
  ]
  return openApiDocument(api, { title: "Transaction relay", version, description, tags }, [{ url: publicUrl }])
}
