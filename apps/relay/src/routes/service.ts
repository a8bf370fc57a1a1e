import { type Access, createRoute } from "@svc/openapi"
import { z } from "zod"
import { aboutResponse, failures, headers, healthResponse, json, probeResponse } from "../document.ts"

const access: Access = { callers: ["anyone"] }
const open = { method: "get" as const, tags: ["service"], security: [], "x-access": access }
const busy = failures(false, ["server_busy"])
const probe = (description: string) => ({ description, headers, ...json(probeResponse) })

export const about = createRoute({
  ...open,
  path: "/",
  operationId: "about",
  summary: "About this service",
  description: "Returns the URLs of its documentation and its OpenAPI document.",
  responses: { 200: { description: "The relay.", headers, ...json(aboutResponse) }, ...busy },
})

export const health = createRoute({
  ...open,
  path: "/health",
  operationId: "health",
  summary: "Health",
  description:
    "Returns whether the relay is up and whether its routes are enabled. With `chain=true` also the provider's chain, which the relay requests once, by `getGenesisHash`.",
  request: {
    query: z.object({
      chain: z.enum(["true", "false"]).optional().meta({ description: "Whether to return the provider's chain" }),
    }),
  },
  responses: { 200: { description: "The relay is up.", headers, ...json(healthResponse) }, ...busy },
})

export const livez = createRoute({
  ...open,
  path: "/livez",
  operationId: "livez",
  summary: "Liveness",
  description: "Returns whether the process serves requests.",
  responses: { 200: probe("The process serves requests.") },
})

export const readyz = createRoute({
  ...open,
  path: "/readyz",
  operationId: "readyz",
  summary: "Readiness",
  description: "Returns whether the relay is ready: it has a key to verify tokens, and isn't stopping.",
  responses: { 200: probe("The relay is ready."), 503: probe("`missing` has the reasons.") },
})

export const openapi = createRoute({
  ...open,
  path: "/openapi.json",
  operationId: "openapi",
  summary: "OpenAPI document",
  responses: { 200: { description: "OpenAPI 3.1.", headers, ...json(z.record(z.string(), z.any())) }, ...busy },
})
