import { setHeader } from "@svc/http"
import { z } from "@svc/openapi"
import type { Context } from "hono"
import {
  checkManager,
  type KeyChange,
  listKeys,
  mintAccountKey,
  revokeAccountKey,
  rotateAccountKey,
  switchAccountKey,
} from "../../auth/account-keys.ts"
import { policies } from "../../auth/agent-policy.ts"
import type { AppEnv } from "../../auth/guard.ts"
import type { Dependencies } from "../../dependencies.ts"
import { errors } from "../../errors.ts"
import { idOf, jsonBody, type Serve } from "../endpoint.ts"
import * as schemas from "./key-schemas.ts"
import { nextLink, pageOf, pageQuery } from "../paging.ts"

const noStore = { "cache-control": "no-store" }
const dayMs = 86_400_000
const publishableDays = 365

/** Agents and people have the same key routes, at different paths. */
const surfaces = [
  { path: "/api/agents/me/keys", access: policies.agentAccount, kind: "ak", owner: "Agent" },
  { path: "/api/auth/keys", access: policies.peoplesKeys, kind: "sk", owner: "User" },
] as const

export const keyRoutes = (serve: Serve, dependencies: Dependencies): void => {
  for (const surface of surfaces) routesOf(serve, dependencies, surface)
}

const routesOf = (serve: Serve, dependencies: Dependencies, surface: (typeof surfaces)[number]): void => {
  const { path, access, kind, owner } = surface
  const whose = owner === "Agent" ? "an agent" : "a person"
  const common = { tag: "keys", access } as const
  const changeOf = (c: Context<AppEnv>): KeyChange => ({
    principal: c.var.principal,
    at: new Date(dependencies.wallClock()),
    address: c.get("clientAddress"),
    requestId: c.get("requestId"),
  })

  serve({
    ...common,
    method: "get",
    path,
    id: `list${owner}Key`,
    summary: `List ${whose}'s keys`,
    description: "Lists the keys that aren't revoked, oldest first.",
    query: pageQuery,
    success: [200, "Keys", z.array(schemas.keyRecord)],
    codes: ["invalid-request"],
    handle: async (c) => {
      const page = pageOf(c)
      const { userId, keyId } = c.var.principal
      const rows = await listKeys(c.var.queries, userId, page)
      const at = new Date(dependencies.wallClock())
      const keys = rows.slice(0, page.limit).map((row) => schemas.present(row, at, keyId))
      if (rows.length > page.limit) setHeader(c, "Link", nextLink(c, page))
      return c.json(keys, 200, noStore)
    },
  })

  const sendKey = (c: Context<AppEnv>, answer: z.infer<typeof schemas.minted>): Response => c.json(answer, 201, noStore)

  const mint = async (
    c: Context<AppEnv>,
    given: z.infer<typeof schemas.secretBody>,
    origins?: readonly string[],
  ): Promise<Response> => {
    const change = changeOf(c)
    const days = given.expires_in_days ?? (origins && publishableDays)
    const expiresAt = days === undefined ? undefined : new Date(change.at.getTime() + days * dayMs)
    const wanted = { kind: origins ? "pk" : kind, name: schemas.keyName(given.name), origins, expiresAt } as const
    const key = await mintAccountKey(c.var.queries, change, wanted, dependencies.randomBytes)
    return sendKey(c, schemas.presentMade({ ...wanted, ...key }))
  }

  serve({
    ...common,
    method: "post",
    path,
    id: `mint${owner}Key`,
    summary: `Mint a secret key for ${whose}`,
    body: schemas.secretBody,
    success: [201, "The key, shown only once", schemas.minted],
    codes: ["invalid-key-name", "too-many-keys", "key-replaced", "outcome-unknown"],
    handle: async (c) => {
      checkManager(c.var.principal)
      return mint(c, await jsonBody(c, schemas.secretBody))
    },
  })

  serve({
    ...common,
    method: "post",
    path: `${path}/publishable`,
    id: `mintPublishable${owner}Key`,
    summary: `Mint a publishable key for ${whose}`,
    description: "The key works in browser pages of one origin.",
    body: schemas.publishableBody,
    success: [201, "The key, shown only once", schemas.minted],
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
    handle: async (c) => {
      checkManager(c.var.principal)
      const given = await jsonBody(c, schemas.looseOrigins)
      return mint(c, given, schemas.originsOf(given.origin_allowlist))
    },
  })

  serve({
    ...common,
    method: "post",
    path: `${path}/{id}/rotate`,
    id: `rotate${owner}Key`,
    summary: `Rotate ${whose}'s key`,
    description:
      "Creates a new key at once. The old key expires after an overlap. Any active key of the account can be rotated, including the calling one. If the response is lost, rotate the replaced key again: if its successor is unused, it is revoked and a new one is created.",
    body: schemas.rotateBody,
    success: [201, "The key, shown only once", schemas.rotated],
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
    handle: async (c) => {
      checkManager(c.var.principal, Number(c.req.param("id")))
      const replaces = idOf(c, "invalid-key-id")
      const given = await jsonBody(c, schemas.rotateBody)
      if (replaces === undefined) throw errors.fail("key-not-found")
      const name = given.name === undefined ? undefined : schemas.keyName(given.name)
      const wish = { name, overlapSeconds: given.overlap_seconds }
      const made = await rotateAccountKey(c.var.queries, changeOf(c), replaces, wish, dependencies.randomBytes)
      const old = { replaces, old_expires_at: made.oldExpiresAt.toISOString() }
      return sendKey(c, { ...schemas.presentMade(made), ...old } satisfies z.infer<typeof schemas.rotated>)
    },
  })

  const switching = {
    disable: [
      "Disable",
      "Takes effect at once, and any other key of the account can enable it again. Any key of the account can be disabled, including the calling one.",
      [],
    ],
    enable: [
      "Enable",
      "Enables a key that its owner disabled. Only the operator can enable a key that the operator disabled.",
      ["key-disabled-by-operator"],
    ],
  } as const
  for (const verb of ["disable", "enable"] as const) {
    const [name, description, codes] = switching[verb]
    serve({
      ...common,
      method: "post",
      path: `${path}/{id}/${verb}`,
      id: `${verb}${owner}Key`,
      summary: `${name} ${whose}'s key`,
      description,
      success: [200, `The key, which is ${verb}d`, schemas.keyRecord],
      codes: ["invalid-key-id", "key-replaced", "key-not-found", ...codes, "outcome-unknown"],
      handle: async (c) => {
        checkManager(c.var.principal)
        const id = idOf(c, "invalid-key-id")
        if (id === undefined) throw errors.fail("key-not-found")
        const change = changeOf(c)
        const key = await switchAccountKey(c.var.queries, change, id, verb)
        return c.json(schemas.present(key, change.at, change.principal.keyId), 200, noStore)
      },
    })
  }

  serve({
    ...common,
    method: "delete",
    path: `${path}/{id}`,
    id: `revoke${owner}Key`,
    summary: `Revoke ${whose}'s key`,
    description:
      "Takes effect at once and can't be undone. Any key of the account can be revoked, including the calling one and the last one.",
    success: [200, "The key is revoked", schemas.revoked],
    codes: ["invalid-key-id", "key-replaced", "key-not-found", "outcome-unknown"],
    handle: async (c) => {
      checkManager(c.var.principal)
      const keyId = idOf(c, "invalid-key-id")
      if (keyId === undefined) throw errors.fail("key-not-found")
      const remaining_secret_keys = await revokeAccountKey(c.var.queries, changeOf(c), keyId)
      return c.json({ id: keyId, revoked: true, remaining_secret_keys }, 200, noStore)
    },
  })
}
