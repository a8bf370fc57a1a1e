import { createRoute, json, z } from "@svc/openapi"
import { bug, open } from "./describe-route.ts"

const probe = z.object({ status: z.enum(["ok", "unavailable"]), missing: z.array(z.enum(["pages"])) }).openapi("Probe")
const healthResponse = z.object({ status: z.literal("ok"), version: z.string(), pages: z.int() }).openapi("Health")

const service = { method: "get" as const, tags: ["discovery"], ...open }

export const livez = createRoute({
  ...service,
  path: "/livez",
  operationId: "getLiveness",
  summary: "Liveness",
  responses: { 200: json("The process serves.", probe), ...bug },
})

export const readyz = createRoute({
  ...service,
  path: "/readyz",
  operationId: "getReadiness",
  summary: "Readiness",
  responses: {
    200: json("It is ready.", probe),
    503: json("What `missing` names is not there yet.", probe),
    ...bug,
  },
})

export const health = createRoute({
  ...service,
  path: "/health",
  operationId: "getHealth",
  summary: "Health",
  responses: { 200: json("It is up.", healthResponse), ...bug },
})
