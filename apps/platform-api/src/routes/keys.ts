import { z } from "@svc/openapi"
import { insertKey, lockUser } from "../auth/accounts.ts"
import type { Principal } from "../auth/authenticate.ts"
import { clientOf } from "../auth/guard.ts"
import { normaliseName } from "../auth/name.ts"
import { normaliseOrigin } from "../auth/origin.ts"
import { audit } from "../audit.ts"
import type { Orm } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { apiKeys } from "../db/schema.ts"
import { errors } from "../errors.ts"
import type { Services } from "../services.ts"
import { type Api, endpoint, idOf, jsonBody } from "./endpoint.ts"
import { nextLink, pageOf, pageQuery } from "./paging.ts"

const { and, asc, count, eq, gt, isNull, or, sql } = orm

const mostLiveKeys = 25
const dayMs = 86_400_000

const keyClass = z.enum(["secret", "publishable"])
const record = z.object({
  id: z.int(),
  name: z.string(),
  key_class: keyClass,
  key_hint: z.string(),
  origin_allowlist: z.array(z.string()).nullable(),
  status: z.enum(["active", "disabled", "expired"]),
  current: z.boolean(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
})
const minted = z.object({
  id: z.int(),
  key: z.string(),
  name: z.string(),
  key_class: keyClass,
  origin_allowlist: z.array(z.string()).nullable(),
  expires_at: z.iso.datetime().nullable(),
  message: z.string(),
})
const revoked = z.object({ id: z.int(), revoked: z.literal(true), remaining_secret_keys: z.int() })
const secretBody = z.object({
  name: z.string().default("rotation"),
  expires_in_days: z.int("must be an integer from 1 to 3650").min(1).max(3650).optional(),
})
const publishableBody = secretBody.extend({
  origin_allowlist: z.array(z.string()).openapi({ minItems: 1, maxItems: 1, description: "Exactly one origin" }),
})
// The array has codes of its own for what can be wrong with it, so it is looked at by hand.
const looseOrigins = secretBody.extend({ origin_allowlist: z.unknown().optional() })

const originOf = (list: unknown): string => {
  if (!Array.isArray(list)) throw errors.fail("missing-origin-allowlist")
  const [first, ...others]: unknown[] = list
  if (list.length === 0) throw errors.fail("origin-allowlist-empty")
  if (others.length > 0) throw errors.fail("origin-allowlist-too-many")
  if (typeof first !== "string") {
    throw errors.fail("invalid-request", { details: { path: "origin_allowlist[0]", reason: "must be a string" } })
  }
  const normalised = normaliseOrigin(first)
  if ("fault" in normalised) throw errors.fail(normalised.fault)
  return normalised.origin
}

const actorOf = (principal: Principal): string =>
  principal.kind === "agent" ? `agent:${principal.profile.slug}` : `user:${principal.userId}`

const live = (userId: number, at: Date) =>
  and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, at)))

/** Two requests with one key can cross: the second must not go on when the first has revoked it. */
const checkStillGood = async (tx: Orm, keyId: number): Promise<void> => {
  const good = and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt), isNull(apiKeys.disabledAt))
  const [row] = await tx.select({ id: apiKeys.id }).from(apiKeys).where(good)
  if (row === undefined) throw errors.fail("invalid-api-key")
}

type Surface = { readonly path: string; readonly policy: "agentAccount" | "humanKeys"; readonly kind: "ak" | "sk" }

export const keyRoutes = (api: Api, services: Services, { path, policy, kind }: Surface): void => {
  const id = (verb: string) => (policy === "agentAccount" ? `${verb}AgentKey` : `${verb}UserKey`)
  const common = { tag: "keys", policy } as const

  endpoint(
    api,
    services,
    {
      ...common,
      method: "get",
      path,
      id: id("list"),
      summary: "The account's keys that are not revoked, oldest first",
      query: pageQuery,
      success: [200, "Keys", z.array(record)],
      codes: ["invalid-request"],
    },
    async (c) => {
      const page = pageOf(c)
      const { userId, keyId } = c.get("principal")
      const at = services.wallClock()
      const rows = await c.get("queries").run((db) =>
        db
          .select()
          .from(apiKeys)
          .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
          .orderBy(asc(apiKeys.id))
          .offset(page.offset)
          .limit(page.limit + 1),
      )
      const keys = rows.slice(0, page.limit).map((row) => ({
        id: row.id,
        name: row.name,
        key_class: row.keyClass,
        key_hint: `${row.prefix}…${row.lastFour}`,
        origin_allowlist: row.originAllowlist,
        status:
          row.disabledAt !== null
            ? "disabled"
            : row.expiresAt !== null && row.expiresAt.getTime() <= at
              ? "expired"
              : "active",
        current: row.id === keyId,
        created_at: row.createdAt.toISOString(),
        expires_at: row.expiresAt?.toISOString() ?? null,
        last_used_at: row.lastUsedAt?.toISOString() ?? null,
      }))
      if (rows.length > page.limit) c.env.outgoing.preset["link"] = nextLink(c, page)
      return c.json(keys, 200, { "cache-control": "no-store" })
    },
  )

  const mint = async (
    c: Parameters<Parameters<typeof endpoint>[3]>[0],
    given: { readonly name: string; readonly expires_in_days?: number | undefined },
    origin: string | undefined,
  ): Promise<Response> => {
    const { principal, queries } = c.var
    const { requestId } = c.env.outgoing
    const now = services.wallClock()
    const at = new Date(now)
    const days = given.expires_in_days ?? (origin === undefined ? undefined : 365)
    const expiresAt = days === undefined ? undefined : new Date(now + days * dayMs)
    const keyKind = origin === undefined ? kind : "pk"
    const name = normaliseName(given.name)
    if (name === undefined) throw errors.fail("invalid-key-name")
    const key = await queries.transaction(async (tx) => {
      await lockUser(tx, principal.userId)
      await checkStillGood(tx, principal.keyId)
      const [held] = await tx.select({ keys: count() }).from(apiKeys).where(live(principal.userId, at))
      if ((held?.keys ?? 0) >= mostLiveKeys) throw errors.fail("too-many-keys")
      const made = await insertKey(
        tx,
        {
          kind: keyKind,
          userId: principal.userId,
          name,
          createdAt: at,
          ...(origin === undefined ? {} : { origin }),
          ...(expiresAt === undefined ? {} : { expiresAt }),
        },
        services.randomBytes,
      )
      const address = clientOf(services, c)
      await audit(tx, {
        at,
        actor: actorOf(principal),
        action: "key.mint",
        target: `key:${made.id}`,
        address,
        requestId,
      })
      return made
    })
    const body = {
      id: key.id,
      key: key.text,
      name,
      key_class: origin === undefined ? "secret" : "publishable",
      origin_allowlist: origin === undefined ? null : [origin],
      expires_at: expiresAt?.toISOString() ?? null,
      message: "Store the key now: it is not shown again and can't be recovered.",
    }
    return c.json(body, 201, { "cache-control": "no-store" })
  }

  endpoint(
    api,
    services,
    {
      ...common,
      method: "post",
      path,
      id: id("mint"),
      summary: "Make another secret key",
      body: secretBody,
      success: [201, "The key, shown this once", minted],
      codes: ["invalid-key-name", "too-many-keys"],
    },
    async (c) => mint(c, await jsonBody(c, secretBody), undefined),
  )

  endpoint(
    api,
    services,
    {
      ...common,
      method: "post",
      path: `${path}/publishable`,
      id: id("mintPublishable"),
      summary: "Make a key for the pages of one origin",
      body: publishableBody,
      success: [201, "The key, shown this once", minted],
      codes: [
        "invalid-key-name",
        "missing-origin-allowlist",
        "invalid-origin",
        "too-many-keys",
        "origin-allowlist-empty",
        "origin-allowlist-too-many",
        "origin-invalid-scheme",
      ],
    },
    async (c) => {
      const given = await jsonBody(c, looseOrigins)
      return mint(c, given, originOf(given.origin_allowlist))
    },
  )

  endpoint(
    api,
    services,
    {
      ...common,
      method: "delete",
      path: `${path}/{id}`,
      id: id("revoke"),
      summary: "Revoke a key, at once and for good",
      description: "Any key of the account, the calling and the last one too.",
      success: [200, "The key is dead", revoked],
      codes: ["invalid-key-id", "key-not-found"],
    },
    async (c) => {
      const keyId = idOf(c, "invalid-key-id")
      if (keyId === undefined) throw errors.fail("key-not-found")
      const { principal, queries } = c.var
      const { requestId } = c.env.outgoing
      const at = new Date(services.wallClock())
      const remaining = await queries.transaction(async (tx) => {
        await lockUser(tx, principal.userId)
        await checkStillGood(tx, principal.keyId)
        const own = and(eq(apiKeys.id, keyId), eq(apiKeys.userId, principal.userId), isNull(apiKeys.revokedAt))
        const gone = await tx.update(apiKeys).set({ revokedAt: at }).where(own).returning({ id: apiKeys.id })
        if (gone.length === 0) throw errors.fail("key-not-found")
        const address = clientOf(services, c)
        await audit(tx, {
          at,
          actor: actorOf(principal),
          action: "key.revoke",
          target: `key:${keyId}`,
          address,
          requestId,
        })
        const usable = and(live(principal.userId, at), isNull(apiKeys.disabledAt), eq(apiKeys.keyClass, sql`'secret'`))
        const [left] = await tx.select({ keys: count() }).from(apiKeys).where(usable)
        return left?.keys ?? 0
      })
      return c.json({ id: keyId, revoked: true, remaining_secret_keys: remaining }, 200, {
        "cache-control": "no-store",
      })
    },
  )
}
