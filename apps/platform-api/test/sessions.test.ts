import { randomBytes } from "node:crypto"
import { createVerifier, remoteKeys, sessionLifetimeSeconds } from "@svc/session-token"
import { beforeAll, expect, test } from "vitest"
import { listAudit } from "../src/operator/accounts.ts"
import { listLimits, setLimits } from "../src/operator/limits.ts"
import { smallAst } from "./registry/small-ast.ts"
import { beforeTests, publishStack, reached, testService } from "./service.ts"
import { newPerson } from "./work/person.ts"

const origin = "https://app.example"
const url = (name: string) => `wss://streams.example/${name}`

const service = testService("postgres")
const agent = beforeTests(() => service.signUp())
const owner = beforeTests(() => newPerson(service))
beforeAll(async () => {
  for (const [name, more] of [
    ["plain", {}],
    ["relayed", { relay: true }],
    ["members", { visibility: "global", relay: true }],
    ["hidden", { visibility: "private" }],
    ["sending", { relay: true, browserSend: true }],
  ] as const) {
    await publishStack(service, name, smallAst(), more)
  }
  await reached(service, "/api/registry/sending")
})

const mint = (body: unknown, key = agent.key, headers = {}) =>
  service.call("POST", "/ws/sessions", {
    key,
    body,
    headers,
    from: `2001:db8::${randomBytes(2).toString("hex")}:0:0:0:1`,
  })
const told = async (...given: Parameters<typeof mint>) => {
  const { status, code, body } = await mint(...given)
  return code === null ? body.scope : `${status} ${code}`
}
const verify = async (token: string, audience: string, from?: string) => {
  const keys = remoteKeys({ url: `${service.url}/.well-known/jwks.json`, fetch, now: () => performance.now() })
  const verifier = createVerifier({ keys, issuer: "svc-platform", audiences: [audience], now: () => Date.now() })
  return verifier.verify(token, from)
}

test("the next token has the lower of the account's and the stack's limit; without a limit there is no claim", async () => {
  const db = service.database()
  const limits = async (name: string, key = agent.key) => {
    const { token } = (await mint({ websocket_url: url(name) }, key)).body
    return (await verify(token, name)).limits
  }
  const other = await service.signUp()
  expect(await limits("relayed")).toBeUndefined()
  const account = `agent:${agent.slug}`
  const mine = { max_transaction_send_requests_per_minute: 5, max_transaction_concurrency: 0 }
  await setLimits(db, account, mine, new Date())
  const ofStack = { max_transaction_send_requests_per_minute: 7, max_transaction_bytes: 900 }
  await setLimits(db, "stack:Relayed", ofStack, new Date())
  expect(await limits("relayed")).toEqual({ ...mine, max_transaction_bytes: 900 })
  expect(await limits("plain")).toEqual(mine)
  expect(await limits("relayed", other.key)).toEqual(ofStack)
  await setLimits(db, "stack:relayed", { max_transaction_send_requests_per_minute: 2 }, new Date())
  expect((await limits("relayed"))?.max_transaction_send_requests_per_minute).toBe(2)
  expect(await listLimits(db)).toEqual([
    { subject: account, limits: mine },
    { subject: "stack:relayed", limits: { ...ofStack, max_transaction_send_requests_per_minute: 2 } },
  ])
  const none = { max_transaction_send_requests_per_minute: null, max_transaction_bytes: null }
  await setLimits(db, "stack:relayed", none, new Date())
  await setLimits(db, account, { ...none, max_transaction_concurrency: null }, new Date())
  expect([await limits("relayed"), await listLimits(db)]).toEqual([undefined, []])
  const [last] = await listAudit(db, 1)
  expect(last).toMatchObject({ actor: "operator", action: "limits.set", target: account })
})

test("a token passes the verifier with the published keys, for its lifetime and with its claims", async () => {
  const before = Math.floor(Date.now() / 1000)
  const { status, headers, body } = await mint({ websocket_url: url("plain") })
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"])
  expect(body).toEqual({
    token: expect.any(String),
    expires_at: expect.any(Number),
    token_type: "Bearer",
    scope: "read",
  })
  const claims = await verify(body.token, "plain")
  expect(claims).toEqual({
    iss: "svc-platform",
    sub: `agent:${agent.slug}`,
    aud: "plain",
    iat: expect.any(Number),
    nbf: claims.iat,
    exp: Number(claims.iat) + sessionLifetimeSeconds,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    scope: "read",
    key_class: "secret",
    metering_key: `key:${agent.id}`,
  })
  expect(claims.iat).toBeGreaterThanOrEqual(before)
  expect(body.expires_at).toBe(claims.exp)
})

test("a stack's name in any case counts as its URL", async () => {
  const { status, body } = await mint({ stack: "Plain" })
  expect([status, (await verify(body.token, "plain")).aud]).toEqual([200, "plain"])
  const refused = await mint({ stack: "plian" })
  expect(refused.body).toMatchObject({ details: { path: "stack" }, hint: expect.stringContaining("mean plain?") })
})

test("scopes may be text or a list, count once each, and are limited to those of the stack", async () => {
  expect(await told({ websocket_url: url("relayed"), scope: "transaction:send read read" })).toBe(
    "read transaction:send",
  )
  expect(await told({ websocket_url: url("relayed"), scopes: ["transaction:inspect"] })).toBe("transaction:inspect")
  for (const scope of ["transaction:inspect", "read transaction:send"]) {
    expect(await told({ websocket_url: url("plain"), scope })).toBe("403 scope-not-allowed")
  }
})

test("a browser's token is bound to its page, and may send transactions only where the operator allows it", async () => {
  const publishable = await service.publishable(agent.key, [origin])
  const page = (name: string, scope: string, from = origin) =>
    told({ websocket_url: url(name), scope }, publishable, { origin: from })
  expect(await page("relayed", "read transaction:inspect")).toBe("read transaction:inspect")
  expect(await page("relayed", "transaction:send")).toBe("403 scope-not-allowed")
  const refused = await mint({ websocket_url: url("relayed"), scope: "transaction:send" }, publishable, { origin })
  const whose = { reason: expect.stringContaining("publishable key"), path: "scope" }
  expect(refused.body).toMatchObject({ details: whose, hint: expect.stringContaining("operator") })
  expect(await page("sending", "transaction:send")).toBe("transaction:send")
  expect(await page("plain", "read", "https://evil.example")).toBe("403 origin-not-allowed")
  expect(await told({ websocket_url: url("plain") }, publishable)).toBe("403 origin-required")
  const { body } = await mint({ websocket_url: url("plain") }, publishable, { origin })
  expect(await verify(body.token, "plain", origin)).toMatchObject({ origin, key_class: "publishable" })
  await expect(verify(body.token, "plain", "https://evil.example")).rejects.toMatchObject({ code: "origin-mismatch" })
})

test("people's keys mint tokens for their user id", async () => {
  const { body } = await mint({ websocket_url: url("plain") }, owner.key)
  expect(await verify(body.token, "plain")).toMatchObject({ sub: `user:${owner.id}` })
})

test("a stack that isn't public gets the same response as one that doesn't exist", async () => {
  const answer = async (name: string) => {
    const { status, body } = await mint({ websocket_url: url(name) })
    return { status, body: { ...body, request_id: "" } }
  }
  const missing = await answer("none")
  expect(missing).toMatchObject({ status: 403, body: { code: "agent-account-forbidden" } })
  for (const name of ["members", "hidden"]) expect(await answer(name)).toEqual(missing)
})

test("the error for a mistyped URL names the nearest public one; a person's key never gets agents' codes", async () => {
  const typo = "wss://streams.exmaple/plian"
  const reason = `isn't the URL of a public stack; the nearest one is ${url("plain")}`
  const hint = expect.stringContaining(`Did you mean ${url("plain")}?`)
  const slip = { details: { path: "websocket_url", reason }, hint }
  const refused = await mint({ websocket_url: typo })
  expect(refused).toMatchObject({ status: 403, body: { code: "agent-account-forbidden", ...slip } })
  const missing = { status: 404, body: { code: "stack-not-found", ...slip } }
  expect(await mint({ websocket_url: typo }, owner.key)).toMatchObject(missing)
  // Close to a private stack, and far from all.
  for (const unknown of [`${url("hidden")}n`, "wss://elsewhere.example/plain"]) {
    const { status, body } = await mint({ websocket_url: unknown }, owner.key)
    const far = "isn't the URL of a public stack"
    expect([status, body.code, body.details.reason]).toEqual([404, "stack-not-found", far])
  }
})

test("60 tokens per minute for a key at one address", async () => {
  const { key } = await service.signUp()
  const ask = (from: string) =>
    service.call("POST", "/ws/sessions", { key, from, body: { websocket_url: url("plain") } })
  const answers = await Promise.all(Array.from({ length: 61 }, () => ask("192.0.2.1")))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.map(({ status }) => status)).toEqual([429])
  expect((await ask("192.0.2.2")).status).toBe(200)
})

test("the key set is served as verifiers fetch it, with only public members", async () => {
  const { headers, body } = await service.call("GET", "/.well-known/jwks.json")
  expect(headers.get("cache-control")).toBe("max-age=60")
  const jwk = { kty: "OKP", crv: "Ed25519", kid: expect.any(String), use: "sig", alg: "EdDSA", x: expect.any(String) }
  expect(body).toEqual({ keys: [jwk] })
})
