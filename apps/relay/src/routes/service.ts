import { type Access, createRoute } from "@svc/openapi"
import { z } from "zod"
import { headers, json, refusals } from "../document/describe-route.ts"
import { aboutResponse, healthResponse, probeResponse } from "../document/envelope.ts"

const access: Access = { callers: ["anyone"] }
const open = { method: "get" as const, tags: ["service"], security: [], "x-access": access }
const busy = refusals(false, ["server_busy"])
const probe = (description: string) => ({ description, headers, ...json(probeResponse) })

export const about = createRoute({
  ...open,
  path: "/",
  operationId: "about",
  summary: "What this service is",
  description: "Where its documentation and its OpenAPI document are.",
  responses: { 200: { description: "The relay.", headers, ...json(aboutResponse) }, ...busy },
})

export const health = createRoute({
  ...open,
  path: "/health",
  operationId: "health",
  summary: "Health",
  description:
    "Whether the relay is up, and whether its routes are enabled. With `chain=true` also which chain the provider is of: it is asked once, by `getGenesisHash`.",
  request: {
    query: z.object({
      chain: z.enum(["true", "false"]).optional().meta({ description: "Whether to tell the provider's chain" }),
    }),
  },
  responses: { 200: { description: "It is up.", headers, ...json(healthResponse) }, ...busy },
})

export const livez = createRoute({
  ...open,
  path: "/livez",
  operationId: "livez",
  summary: "Liveness",
  description: "Whether the process serves.",
  responses: { 200: probe("The process serves.") },
})

export const readyz = createRoute({
  ...open,
  path: "/readyz",
  operationId: "readyz",
  summary: "Readiness",
  description: "Whether the relay is ready: it has a key to verify tokens with, and isn't stopping.",
  responses: { 200: probe("It is ready."), 503: probe("What `missing` names is not there.") },
})

export const openapi = createRoute({
  ...open,
  path: "/openapi.json",
  operationId: "openapi",
  summary: "OpenAPI document",
  responses: { 200: { description: "OpenAPI 3.1.", headers, ...json(z.record(z.string(), z.any())) }, ...busy },
})
