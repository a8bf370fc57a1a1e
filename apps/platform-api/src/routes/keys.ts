import { requestIdOf, setHeader } from "@svc/http"
import { z } from "@svc/openapi"
import type { Context } from "hono"
import {
  checkManager,
  type KeyChange,
  keyStatus,
  listKeys,
  mintAccountKey,
  revokeAccountKey,
  rotateAccountKey,
  type StoredKey,
} from "../auth/account-keys.ts"
import { policies } from "../auth/agent-policy.ts"
import { type AppEnv, clientOf } from "../auth/guard.ts"
import { nameFault, normaliseName } from "../auth/name.ts"
import { normaliseOrigin } from "../auth/origin.ts"
import { type ErrorCode, errors } from "../errors.ts"
import type { Dependencies } from "../dependencies.ts"
import { type Api, endpoint, idOf, jsonBody } from "./endpoint.ts"
import { nextLink, pageOf, pageQuery } from "./paging.ts"

const dayMs = 86_400_000
const publishableDays = 365

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
  replaced_by: z.int().optional().meta({ description: "The key that took its place" }),
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
const rotated = minted.extend({
  replaces: z.int(),
  old_expires_at: z.iso.datetime().meta({ description: "When the old key ends" }),
})
const revoked = z.object({ id: z.int(), revoked: z.literal(true), remaining_secret_keys: z.int() })
const secretBody = z.object({
  name: z.string().default("rotation"),
  expires_in_days: z.int("must be an integer from 1 to 3650").min(1).max(3650).optional(),
})
const publishableBody = secretBody.extend({
  origin_allowlist: z.array(z.string()).meta({ minItems: 1, maxItems: 1, description: "Exactly one origin" }),
})
// The array has codes of its own for what can be wrong with it, so it is looked at by hand.
const looseOrigins = secretBody.extend({ origin_allowlist: z.unknown().optional() })

const longestOverlap = 604_800
const rotateBody = z.object({
  name: z.string().optional().meta({ description: "The old key's, unless given" }),
  overlap_seconds: z
    .int(`must be an integer from 0 to ${longestOverlap}`)
    .min(0)
    .max(longestOverlap)
    .default(3600)
    .meta({ description: "How long the old key goes on; 0 ends it at once" }),
})

const keyName = (text: string): string => {
  const name = normaliseName(text)
  if (name === undefined) throw errors.fail("invalid-key-name", { details: { path: "name", reason: nameFault } })
  return name
}

const originOf = (list: unknown): string => {
  const refuse = (code: ErrorCode, path: string, reason: string) => errors.fail(code, { details: { path, reason } })
  if (!Array.isArray(list)) {
    const reason = list === undefined ? "is missing" : "must be an array"
    throw refuse("missing-origin-allowlist", "origin_allowlist", reason)
  }
  const [first, ...others]: unknown[] = list
  if (list.length === 0) throw refuse("origin-allowlist-empty", "origin_allowlist", "must hold one origin")
  if (others.length > 0) throw refuse("origin-allowlist-too-many", "origin_allowlist", "must hold one origin")
  if (typeof first !== "string") throw refuse("invalid-request", "origin_allowlist[0]", "must be a string")
  const normalised = normaliseOrigin(first)
  if ("origin" in normalised) return normalised.origin
  const reason =
    normalised.fault === "origin-invalid-scheme"
      ? "must start with http:// or https://"
      : "must be a scheme, a host and maybe a port, and nothing else"
  throw refuse(normalised.fault, "origin_allowlist[0]", reason)
}

/** A key as a list shows it. */
const present = (row: StoredKey, at: Date, callingKey: number): z.infer<typeof record> => ({
  id: row.id,
  name: row.name,
  key_class: row.keyClass,
  key_hint: `${row.prefix}…${row.lastFour}`,
  origin_allowlist: row.originAllowlist,
  status: keyStatus(row, at),
  current: row.id === callingKey,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt?.toISOString() ?? null,
  last_used_at: row.lastUsedAt?.toISOString() ?? null,
  ...(row.replacedBy === null ? {} : { replaced_by: row.replacedBy }),
})

type MadeKey = {
  readonly id: number
  readonly text: string
  readonly name: string
  readonly origin: string | undefined
  readonly expiresAt: Date | undefined
}

/** Agents and people have the same routes for their keys, each at a path of their own. */
const surfaces = [
  { path: "/api/agents/me/keys", access: policies.agentAccount, kind: "ak", owner: "Agent" },
  { path: "/api/auth/keys", access: policies.humanKeys, kind: "sk", owner: "User" },
] as const

export const keyRoutes = (api: Api, dependencies: Dependencies): void => {
  for (const surface of surfaces) routesOf(api, dependencies, surface)
}

const routesOf = (api: Api, dependencies: Dependencies, surface: (typeof surfaces)[number]): void => {
  const { path, access, kind, owner } = surface
  const common = { tag: "keys", access } as const
  const changeOf = (c: Context<AppEnv>): KeyChange => ({
    principal: c.var.principal,
    at: new Date(dependencies.wallClock()),
    address: clientOf(dependencies, c),
    requestId: requestIdOf(c),
  })

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "get",
      path,
      id: `list${owner}Key`,
      summary: "The account's keys that are not revoked, oldest first",
      query: pageQuery,
      success: [200, "Keys", z.array(record)],
      codes: ["invalid-request"],
    },
    async (c) => {
      const page = pageOf(c)
      const { userId, keyId } = c.var.principal
      const rows = await listKeys(c.var.queries, userId, page)
      const at = new Date(dependencies.wallClock())
      const keys = rows.slice(0, page.limit).map((row) => present(row, at, keyId))
      if (rows.length > page.limit) setHeader(c, "Link", nextLink(c, page))
      return c.json(keys, 200, { "cache-control": "no-store" })
    },
  )

  /** Answers with a key that was made. */
  const sendKey = (c: Context<AppEnv>, key: MadeKey, more = {}): Response => {
    const body = {
      id: key.id,
      key: key.text,
      name: key.name,
      key_class: key.origin === undefined ? "secret" : "publishable",
      origin_allowlist: key.origin === undefined ? null : [key.origin],
      expires_at: key.expiresAt?.toISOString() ?? null,
      message: "Store the key now: it is not shown again and can't be recovered.",
      ...more,
    }
    return c.json(body, 201, { "cache-control": "no-store" })
  }

  const mint = async (
    c: Context<AppEnv>,
    given: z.infer<typeof secretBody>,
    origin: string | undefined,
  ): Promise<Response> => {
    const change = changeOf(c)
    const days = given.expires_in_days ?? (origin === undefined ? undefined : publishableDays)
    const expiresAt = days === undefined ? undefined : new Date(change.at.getTime() + days * dayMs)
    const name = keyName(given.name)
    const wanted = {
      kind: origin === undefined ? kind : "pk",
      name,
      ...(origin === undefined ? {} : { origin }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    } as const
    const key = await mintAccountKey(c.var.queries, change, wanted, dependencies.randomBytes)
    return sendKey(c, { ...key, name, origin, expiresAt })
  }

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "post",
      path,
      id: `mint${owner}Key`,
      summary: "Make another secret key",
      body: secretBody,
      success: [201, "The key, shown this once", minted],
      codes: ["invalid-key-name", "too-many-keys", "key-replaced", "outcome-unknown"],
    },
    async (c) => {
      checkManager(c.var.principal)
      return mint(c, await jsonBody(c, secretBody), undefined)
    },
  )

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "post",
      path: `${path}/publishable`,
      id: `mintPublishable${owner}Key`,
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
        "outcome-unknown",
        "key-replaced",
      ],
    },
    async (c) => {
      checkManager(c.var.principal)
      const given = await jsonBody(c, looseOrigins)
      return mint(c, given, originOf(given.origin_allowlist))
    },
  )

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "post",
      path: `${path}/{id}/rotate`,
      id: `rotate${owner}Key`,
      summary: "Replace a key: a new one now, the end of the old one after an overlap",
      description:
        "Any active key of the account, the calling one too. When the answer is lost, rotate the replaced key again: as long as its successor is unused, that one is revoked and another made.",
      body: rotateBody,
      success: [201, "The key, shown this once", rotated],
      codes: [
        "invalid-key-name",
        "invalid-key-id",
        "too-many-keys",
        "key-replaced",
        "key-not-found",
        "key-not-active",
        "key-already-rotated",
        "outcome-unknown",
      ],
    },
    async (c) => {
      checkManager(c.var.principal, Number(c.req.param("id")))
      const replaces = idOf(c, "invalid-key-id")
      const given = await jsonBody(c, rotateBody)
      if (replaces === undefined) throw errors.fail("key-not-found")
      const name = given.name === undefined ? undefined : keyName(given.name)
      const wish = { name, overlapSeconds: given.overlap_seconds }
      const made = await rotateAccountKey(c.var.queries, changeOf(c), replaces, wish, dependencies.randomBytes)
      return sendKey(c, made, { replaces, old_expires_at: made.oldExpiresAt.toISOString() })
    },
  )

  endpoint(
    api,
    dependencies,
    {
      ...common,
      method: "delete",
      path: `${path}/{id}`,
      id: `revoke${owner}Key`,
      summary: "Revoke a key, at once and for good",
      description: "Any key of the account, the calling and the last one too.",
      success: [200, "The key is dead", revoked],
      codes: ["invalid-key-id", "key-replaced", "key-not-found", "outcome-unknown"],
    },
    async (c) => {
      checkManager(c.var.principal)
      const keyId = idOf(c, "invalid-key-id")
      if (keyId === undefined) throw errors.fail("key-not-found")
      const remaining = await revokeAccountKey(c.var.queries, changeOf(c), keyId)
      return c.json({ id: keyId, revoked: true, remaining_secret_keys: remaining }, 200, {
        "cache-control": "no-store",
      })
    },
  )
}
