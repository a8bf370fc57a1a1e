import { json, z } from "@svc/openapi"
import type { Context, MiddlewareHandler } from "hono"
import * as account from "../../auth/account-keys.ts"
import { type AppEnv, authenticated, policies } from "../../auth/guard.ts"
import { errors } from "../../errors.ts"
import * as api from "../api.ts"
import { createRoute } from "../create-route.ts"
import * as schemas from "./key-schemas.ts"

export const publishableDays = 365

const makingCodes = ["invalid-key-name", "too-many-keys", "key-replaced", "outcome-unknown"] as const
const rotatingCodes = ["invalid-key-id", "key-not-found", "key-not-active", "key-already-rotated"] as const
const originCodes = [
  "missing-origin-allowlist",
  "invalid-origin",
  "origin-allowlist-empty",
  "origin-allowlist-too-many",
  "origin-invalid-scheme",
] as const

/** Agents and people have the same key routes, at different paths. */
const surfaces = [
  { path: "/api/agents/me/keys", policy: policies.agentAccount, kind: "ak", owner: "Agent" },
  { path: "/api/auth/keys", policy: policies.peoplesKeys, kind: "sk", owner: "User" },
] as const

/** A replaced key manages no keys, except that it can be rotated again. */
const manages =
  (mayBeItself: boolean): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    account.checkManager(c.get("principal"), mayBeItself ? Number(c.req.param("id")) : undefined)
    await next()
  }
const managesKeys = manages(false)

export const keyRoutes = api.createRoutes()

for (const { path, policy, kind, owner } of surfaces) {
  const whose = owner === "Agent" ? "an agent" : "a person"
  const common = { tags: ["keys"], ...api.access(policy) }
  const known = authenticated(policy)
  const changeOf = (c: Context<AppEnv>): account.KeyChange => ({
    principal: c.get("principal"),
    now: () => new Date(c.get("dependencies").wallClock()),
    address: c.get("clientAddress"),
    requestId: c.get("requestId"),
  })

  const listRoute = createRoute(
    {
      method: "get",
      path,
      operationId: `list${owner}Key`,
      summary: `List ${whose}'s keys`,
      description: "Lists the keys that aren't revoked, oldest first.",
      ...common,
      middleware: [known],
      request: { query: api.pageQuery },
      responses: { 200: json("Keys", z.array(schemas.keyRecord)), ...api.keyFailures(policy, "invalid-request") },
    },
    api.paged,
  )
  keyRoutes.openapi(listRoute, async (c) => {
    const page = c.req.valid("query")
    const { userId, keyId } = c.get("principal")
    const rows = await account.listKeys(c.get("queries"), userId, page)
    const at = new Date(c.get("dependencies").wallClock())
    if (rows.length > page.limit) c.header("Link", api.nextLink(c, page))
    return c.json(
      rows.slice(0, page.limit).map((row) => schemas.present(row, at, keyId)),
      200,
      api.noStore,
    )
  })

  const mint = async (c: Context<AppEnv>, given: z.infer<typeof schemas.secretBody>, origins?: readonly string[]) => {
    const expiry = (at: Date) => schemas.expiryOf(given, at, origins && publishableDays)
    const wanted = { kind: origins ? "pk" : kind, name: schemas.keyName(given.name), origins } as const
    const key = await account.mintAccountKey(c.get("queries"), changeOf(c), wanted, expiry, c.get("dependencies"))
    return schemas.presentMade({ ...wanted, ...key })
  }

  const mintRoute = createRoute({
    method: "post",
    path,
    operationId: `mint${owner}Key`,
    summary: `Mint a secret key for ${whose}`,
    ...common,
    middleware: [known, managesKeys, api.smallBody()],
    request: { body: api.jsonRequest(schemas.secretBody) },
    responses: {
      201: json("The key, shown only once", schemas.minted),
      ...api.keyFailures(policy, ...api.bodyCodes, ...makingCodes),
    },
  })
  keyRoutes.openapi(mintRoute, async (c) => c.json(await mint(c, c.req.valid("json")), 201, api.noStore))

  const mintPublishableRoute = createRoute({
    method: "post",
    path: `${path}/publishable`,
    operationId: `mintPublishable${owner}Key`,
    summary: `Mint a publishable key for ${whose}`,
    description: "The key works in browser pages of one origin.",
    ...common,
    middleware: [known, managesKeys, api.smallBody()],
    request: { body: { ...api.jsonRequest(schemas.publishableBody), required: true } },
    responses: {
      201: json("The key, shown only once", schemas.minted),
      ...api.keyFailures(policy, ...api.bodyCodes, ...makingCodes, ...originCodes),
    },
  })
  keyRoutes.openapi(mintPublishableRoute, async (c) => {
    const given = c.req.valid("json")
    return c.json(await mint(c, given, schemas.originsOf(given.origin_allowlist)), 201, api.noStore)
  })

  const rotateRoute = createRoute({
    method: "post",
    path: `${path}/{id}/rotate`,
    operationId: `rotate${owner}Key`,
    summary: `Rotate ${whose}'s key`,
    description:
      "Creates a new key at once. The old key expires after an overlap. Any active key of the account can be rotated, including the calling one. If the response is lost, rotate the replaced key again: if its successor is unused, it is revoked and a new one is created.",
    ...common,
    middleware: [known, manages(true), api.checkId("invalid-key-id"), api.smallBody()],
    request: { params: api.idPath, body: api.jsonRequest(schemas.rotateBody) },
    responses: {
      201: json("The key, shown only once", schemas.rotated),
      ...api.keyFailures(policy, ...api.bodyCodes, ...makingCodes, ...rotatingCodes),
    },
  })
  keyRoutes.openapi(rotateRoute, async (c) => {
    const { id: replaces } = c.req.valid("param")
    const given = c.req.valid("json")
    if (replaces === 0) throw errors.fail("key-not-found")
    const name = given.name === undefined ? undefined : schemas.keyName(given.name)
    const wish = { name, overlapSeconds: given.overlap_seconds }
    const made = await account.rotateAccountKey(c.get("queries"), changeOf(c), replaces, wish, c.get("dependencies"))
    const old_expires_at = made.oldExpiresAt.toISOString()
    return c.json({ ...schemas.presentMade(made), replaces, old_expires_at }, 201, api.noStore)
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
    const switchRoute = createRoute({
      method: "post",
      path: `${path}/{id}/${verb}`,
      operationId: `${verb}${owner}Key`,
      summary: `${name} ${whose}'s key`,
      description,
      ...common,
      middleware: [known, managesKeys, api.checkId("invalid-key-id", "key-not-found")],
      request: { params: api.idPath },
      responses: {
        200: json(`The key, which is ${verb}d`, schemas.keyRecord),
        ...api.keyFailures(policy, "invalid-key-id", "key-replaced", "key-not-found", ...codes, "outcome-unknown"),
      },
    })
    keyRoutes.openapi(switchRoute, async (c) => {
      const change = changeOf(c)
      const { key, at } = await account.switchAccountKey(c.get("queries"), change, c.req.valid("param").id, verb)
      return c.json(schemas.present(key, at, change.principal.keyId), 200, api.noStore)
    })
  }

  const revokeRoute = createRoute({
    method: "delete",
    path: `${path}/{id}`,
    operationId: `revoke${owner}Key`,
    summary: `Revoke ${whose}'s key`,
    description:
      "Takes effect at once and can't be undone. Any key of the account can be revoked, including the calling one and the last one.",
    ...common,
    middleware: [known, managesKeys, api.checkId("invalid-key-id", "key-not-found")],
    request: { params: api.idPath },
    responses: {
      200: json("The key is revoked", schemas.revoked),
      ...api.keyFailures(policy, "invalid-key-id", "key-replaced", "key-not-found", "outcome-unknown"),
    },
  })
  keyRoutes.openapi(revokeRoute, async (c) => {
    const { id } = c.req.valid("param")
    const remaining_secret_keys = await account.revokeAccountKey(c.get("queries"), changeOf(c), id)
    return c.json({ id, revoked: true as const, remaining_secret_keys }, 200, api.noStore)
  })
}
