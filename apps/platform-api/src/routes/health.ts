import { setTimeout as delay } from "node:timers/promises"
import { z } from "@svc/openapi"
import { publicJwks } from "@svc/session-token"
import type { Dependencies } from "../dependencies.ts"
import type { Serve } from "./endpoint.ts"

const health = z.object({
  status: z.enum(["ok", "degraded"]),
  version: z.string(),
  database: z.enum(["ok", "unavailable"]),
  limits: z
    .enum(["shared", "local"])
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
const pingMs = 1800

const noStore = { "cache-control": "no-store" }
const headersOf = (ok: boolean) => (ok ? noStore : { ...noStore, "retry-after": "1" })

const common = { method: "get", tag: "service", access: "anyone", codes: [] } as const

export const healthRoutes = (serve: Serve, dependencies: Dependencies): void => {
  const { version, database } = dependencies
  let ping: Promise<boolean> | undefined

  // One query at a time, however many monitors ask. It may outlast their requests.
  const alive = (): Promise<boolean> =>
    (ping ??= database
      .within(pingMs)
      .query("select 1 where 1 = $1::int", [1])
      .then(
        () => true,
        () => false,
      )
      .finally(() => (ping = undefined)))
  const aliveInTime = (): Promise<boolean> => Promise.race([alive(), delay(answerMs, false, { ref: false })])

  serve({
    ...common,
    path: "/",
    id: "getAbout",
    summary: "About this service",
    description: "Links to the documentation and the OpenAPI document.",
    success: [200, "The service", about],
    handle: (c) => {
      const { publicUrl: url, config } = dependencies
      const links = { docs: config.docsUrl, openapi: `${url}/openapi.json`, health: `${url}/health` }
      return c.json({ name: "svc-platform-api", version, ...links }, 200)
    },
  })
  serve({
    ...common,
    path: "/health",
    id: "getHealth",
    summary: "Health",
    description:
      "Responds within a second whatever the database does. Not rate limited. 503 when degraded: the database is unavailable or can't store data.",
    success: [200, "The service and its database work", health],
    others: { 503: ["The database can't be used", health] },
    handle: async (c) => {
      const ok = (await aliveInTime()) && database.stores()
      const body = {
        status: ok ? "ok" : "degraded",
        version,
        database: ok ? "ok" : "unavailable",
        limits: dependencies.limits.mode(),
      }
      return c.json(body, ok ? 200 : 503, headersOf(ok))
    },
  })
  serve({
    ...common,
    path: "/livez",
    id: "getLivez",
    summary: "Liveness",
    description: "Whether the process serves requests, whatever the database does.",
    success: [200, "The process serves requests", probe],
    handle: (c) => c.json({ status: "ok", missing: [] }, 200, noStore),
  })
  serve({
    ...common,
    path: "/readyz",
    id: "getReadyz",
    summary: "Readiness",
    description:
      "200 while the database is migrated and reachable. Responds within a second whatever the database does. Not rate limited.",
    success: [200, "The service is ready", probe],
    others: { 503: ["What `missing` names is unavailable", probe] },
    handle: async (c) => {
      const ok = await aliveInTime()
      const body = ok ? { status: "ok", missing: [] } : { status: "unavailable", missing: ["database"] }
      return c.json(body, ok ? 200 : 503, headersOf(ok))
    },
  })

  serve({
    ...common,
    path: "/.well-known/jwks.json",
    id: "getSessionKeys",
    summary: "Public keys of session tokens",
    description: "A JWK Set for verifying session tokens. It includes recently replaced keys.",
    success: [200, "A JWK set (RFC 7517)", z.object({ keys: z.array(jwk) })],
    handle: (c) => c.json(publicJwks(dependencies.signingKeys), 200, { "cache-control": "max-age=60" }),
  })
}
