// The platform's peer: zod-openapi, drizzle's builder with one query, SHA-256 of the key.
import { createHash } from "node:crypto"
import { createRoute, z } from "@hono/zod-openapi"
import postgres from "postgres"
import { and, eq, isNull, loadServerDriver } from "../apps/platform-api/src/db/database.ts"
import { agentProfiles, apiKeys } from "../apps/platform-api/src/db/schema/index.ts"
import { createPeer, listen } from "./peer.ts"

const db = loadServerDriver().drizzle(postgres(process.env["DATABASE_URL"] ?? "", { max: 10 }))

const failure = { description: "An error", content: { "application/json": { schema: z.object({ code: z.string() }) } } }
const profile = z.object({
  slug: z.string(),
  display_name: z.string(),
  status: z.string(),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
})
const me = createRoute({
  method: "get",
  path: "/api/agents/me",
  request: { headers: z.object({ authorization: z.string().regex(/^Bearer svc_ak_\w+$/) }) },
  responses: {
    200: { description: "The profile", content: { "application/json": { schema: profile } } },
    400: failure,
    401: failure,
  },
})

const app = createPeer((c) => c.req.header("authorization") ?? "")
app.openapi(me, async (c) => {
  const keyHash = createHash("sha256").update(c.req.valid("header").authorization.slice("Bearer ".length)).digest()
  const [agent] = await db
    .select({
      slug: agentProfiles.slug,
      displayName: agentProfiles.displayName,
      status: agentProfiles.status,
      createdAt: agentProfiles.createdAt,
      lastSeenAt: agentProfiles.lastSeenAt,
      disabledAt: apiKeys.disabledAt,
      expiresAt: apiKeys.expiresAt,
    })
    .from(apiKeys)
    .innerJoin(agentProfiles, eq(agentProfiles.userId, apiKeys.userId))
    .where(and(eq(apiKeys.keyHash, keyHash), isNull(apiKeys.revokedAt)))
  const isExpired = agent?.expiresAt != null && agent.expiresAt <= new Date()
  if (agent === undefined || agent.disabledAt !== null || isExpired) return c.json({ code: "invalid-api-key" }, 401)
  const { slug, displayName: display_name, status, createdAt, lastSeenAt } = agent
  const times = { created_at: createdAt.toISOString(), last_seen_at: lastSeenAt.toISOString() }
  return c.json({ slug, display_name, status, ...times }, 200)
})
listen(app)
