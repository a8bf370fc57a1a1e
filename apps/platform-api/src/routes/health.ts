import { setTimeout as delay } from "node:timers/promises"
import { json, z } from "@svc/openapi"
import { limitsModes } from "@svc/limits"
import { publicJwks } from "@svc/session-token"
import { type Database, requestMs } from "../db/database.ts"
import { access, createRoutes, failures, noStore } from "./api.ts"
import { createRoute } from "./create-route.ts"

const health = z.object({
  status: z.enum(["ok", "degraded"]),
  version: z.string(),
  database: z.enum(["ok", "unavailable"]),
  limits: z
    .enum(limitsModes)
    .meta({ description: "Where limits are counted: in a store shared by all replicas, or in each replica." }),
})
const about = z.object({ name: z.string(), version: z.string(), docs: z.url(), openapi: z.url(), health: z.url() })
const probe = z.object({ status: z.enum(["ok", "unavailable"]), missing: z.array(z.enum(["database"])) })
const jwk = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  kid: z.string(),
  use: z.literal("sig"),
  alg: z.literal("EdDSA"),
  x: z.string(),
})

const answerMs = 800

const away = { ...noStore, "retry-after": "1" }

const common = { method: "get" as const, tags: ["service"], ...access("anyone") }

const getAbout = createRoute({
  path: "/",
  operationId: "getAbout",
  summary: "About this service",
  description: "Links to the documentation and the OpenAPI document.",
  ...common,
  responses: { 200: json("The service", about), ...failures() },
})
const getHealth = createRoute({
  path: "/health",
  operationId: "getHealth",
  summary: "Health",
  description:
    "Responds within a second whatever the database does. Not rate limited. 503 when degraded: the database is unavailable or can't store data.",
  ...common,
  responses: {
    200: json("The service and its database work", health),
    ...failures(),
    503: json("The database can't be used", health),
  },
})
const getLivez = createRoute({
  path: "/livez",
  operationId: "getLivez",
  summary: "Liveness",
  description: "Whether the process serves requests, whatever the database does.",
  ...common,
  responses: { 200: json("The process serves requests", probe), ...failures() },
})
const getReadyz = createRoute({
  path: "/readyz",
  operationId: "getReadyz",
  summary: "Readiness",
  description:
    "200 while the database is migrated and reachable. Responds within a second whatever the database does. Not rate limited.",
  ...common,
  responses: {
    200: json("The service is ready", probe),
    ...failures(),
    503: json("What `missing` names is unavailable", probe),
  },
})
const getSessionKeys = createRoute({
  path: "/.well-known/jwks.json",
  operationId: "getSessionKeys",
  summary: "Public keys of session tokens",
  description: "A JWK Set for verifying session tokens. It includes recently replaced keys.",
  ...common,
  responses: { 200: json("A JWK set (RFC 7517)", z.object({ keys: z.array(jwk) })), ...failures() },
})

export const healthRoutes = createRoutes()

/** Returns a check of whether the database responds within a second. */
export const createProbe = (database: Database) => {
  let ping: Promise<boolean> | undefined
  // One query at a time, however many monitors ask. It may outlast their requests.
  const alive = (): Promise<boolean> =>
    (ping ??= database
      .within(requestMs)
      .query("select 1 where 1 = $1::int", [1])
      .then(
        () => true,
        () => false,
      )
      .finally(() => (ping = undefined)))
  return (): Promise<boolean> => Promise.race([alive(), delay(answerMs, false, { ref: false })])
}

healthRoutes.openapi(getAbout, (c) => {
  const { version, publicUrl: url, config } = c.get("dependencies")
  const links = { docs: config.docsUrl, openapi: `${url}/openapi.json`, health: `${url}/health` }
  return c.json({ name: "svc-platform-api", version, ...links }, 200)
})
healthRoutes.openapi(getHealth, async (c) => {
  const { version, database, databaseResponds, ...given } = c.get("dependencies")
  const limits = given.limits.mode()
  if ((await databaseResponds()) && database.stores())
    return c.json({ status: "ok", version, database: "ok", limits } as const, 200, noStore)
  return c.json({ status: "degraded", version, database: "unavailable", limits } as const, 503, away)
})
healthRoutes.openapi(getLivez, (c) => c.json({ status: "ok" as const, missing: [] }, 200, noStore))
healthRoutes.openapi(getReadyz, async (c) => {
  if (await c.get("dependencies").databaseResponds())
    return c.json({ status: "ok" as const, missing: [] }, 200, noStore)
  return c.json({ status: "unavailable" as const, missing: ["database" as const] }, 503, away)
})
healthRoutes.openapi(getSessionKeys, (c) => {
  const { config, signingKeys } = c.get("dependencies")
  // The relay's `doctor` compares it with its own setting.
  if (c.req.header("x-svc-doctor") !== undefined) c.header("X-Svc-Issuer", config.issuer)
  return c.json({ keys: [...publicJwks(signingKeys).keys] }, 200, { "cache-control": "max-age=60" })
})
