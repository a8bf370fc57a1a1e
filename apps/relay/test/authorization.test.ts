import { randomBytes } from "node:crypto"
import { mintKey } from "@svc/keys"
import { accessSchema } from "@svc/openapi"
import { KeysUnavailableError } from "@svc/session-token"
import { rawExchange } from "@svc/testing"
import { expect, test } from "vitest"
import { z } from "zod"
import committed from "../openapi.json" with { type: "json" }
import { createProxyWarning, createSignedSessionAuthPlugin } from "../src/auth.ts"
import { result } from "./fake-rpc.ts"
import { fileRelay, fileRpc, routeNames, startIssuer, testRelay } from "./fixture.ts"

let wallClock = 1_800_000_000_000
const rpc = fileRpc((r) => result(r, "1"))
const issuer = await startIssuer(() => wallClock)
const relay = fileRelay(rpc, { auth: issuer.plugin })

test("without a token every route is 401 token-missing with a bare challenge, and the provider isn't called", async () => {
  for (const route of routeNames) {
    for (const authorization of [undefined, "", "Bearer", "bearer  "]) {
      const answer = await relay.post(route, {}, authorization === undefined ? {} : { authorization })
      expect(answer).toMatchObject({ status: 401, body: { code: "token-missing", retryable: false } })
      expect(answer.headers.get("www-authenticate")).toBe("Bearer")
    }
  }
  expect(rpc.requests).toHaveLength(0)
})

test("an invalid token is 401 with a code for its fault, and the challenge says invalid_token", async () => {
  const other = await startIssuer(() => wallClock)
  const good = await issuer.token()
  const cases: [string, string][] = [
    ["Basic dXNlcjpwYXNz", "token-invalid-format"],
    ["Bearer a b", "token-invalid-format"],
    ["Bearer nonsense", "token-invalid-format"],
    [`Bearer ${"a".repeat(5000)}`, "token-invalid-format"],
    [`Bearer ${await other.token()}`, "token-key-not-found"],
    [`Bearer ${good.slice(0, -10)}AAAAAAAAAA`, "token-invalid-signature"],
    [`Bearer ${await issuer.token({ iss: "other" })}`, "token-invalid-issuer"],
    [`Bearer ${await issuer.token({ aud: "other" })}`, "token-invalid-audience"],
    [`Bearer ${await issuer.token({ limits: { max_transaction_bytes: -1 } })}`, "token-invalid-format"],
  ]
  for (const [authorization, code] of cases) {
    const answer = await relay.post("block-height", {}, { authorization })
    expect([answer.status, answer.body.code]).toEqual([401, code])
    expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"')
    expect(answer.text).not.toContain(authorization.slice(7, 40))
  }
})

test("an API key sent as a token gets a hint and is never repeated; an unknown key id gets where to mint", async () => {
  const [key = "", ...others] = (["ak", "pk", "sk"] as const).map((kind) => mintKey(kind, randomBytes, randomBytes(32)))
  for (const [authorization, isTypo] of [
    ...[key, ...others].map((one) => [`Bearer ${one}`, false] as const),
    [`Bearer ${key.slice(0, -1)}`, true],
    [`Bearer ${key}x`, true],
    [`Bearer ${key.replace("svc_ak_", "svc_ka_")}`, true],
    [`Bearer ${key.replaceAll("_", "-").toUpperCase()}`, true],
    [key, false],
  ] as const) {
    const answer = await relay.post("block-height", {}, { authorization })
    expect(answer).toMatchObject({ status: 401, body: { code: "token-invalid-format", retryable: false } })
    expect(answer.body.hint).toMatch(/It is a key: mint a session token with it/)
    expect(answer.body.hint.includes("mistyped")).toBe(isTypo)
    expect(answer.text).not.toContain(authorization.slice(10, -1))
  }
  const other = await startIssuer(() => wallClock)
  const unknown = await relay.post("block-height", {}, await other.bearer())
  expect(unknown.body.hint).toMatch(/^Mint a session token .* that this relay trusts/)
})

test("a token that isn't valid yet gets the reason, a wrong clock, and who can correct it", async () => {
  const headers = await issuer.bearer()
  wallClock -= 60_000
  const early = await relay.post("block-height", {}, headers)
  wallClock += 60_000
  expect(early.body).toMatchObject({ code: "token-invalid-format", retryable: false })
  expect(early.body.message).toMatch(/not valid yet: a clock is wrong/)
  expect(early.body.hint).toMatch(/operator/)
})

test("a token is valid until it expires, even one that was verified before", async () => {
  const headers = await issuer.bearer()
  expect((await relay.post("block-height", {}, headers)).status).toBe(200)
  wallClock += 306_000
  const late = await relay.post("block-height", {}, headers)
  expect(late).toMatchObject({ status: 401, body: { code: "token-expired", retryable: true } })
  expect(late.body.hint).toMatch(/Mint a session token .* then repeat/)
})

test("each operation allows exactly the callers in its x-access: scopes are exact words, independent of each other", async () => {
  const credentials: (readonly [scopes: string, authorization: string | undefined])[] = [
    ["", undefined],
    ["", `Bearer ${mintKey("ak", randomBytes, randomBytes(32))}`],
  ]
  const both = "transaction:send transaction:inspect"
  for (const scope of ["read", "transaction", "transaction:*", "read transaction:inspect", "transaction:send", both])
    credentials.push([scope, (await issuer.bearer({ scope })).authorization])
  const described = z.record(z.string(), z.record(z.string(), z.looseObject({ "x-access": accessSchema })))
  for (const [path, methods] of Object.entries(described.parse(committed.paths))) {
    for (const [method, about] of Object.entries(methods)) {
      const { callers, scope = "" } = about["x-access"]
      for (const [scopes, authorization] of credentials) {
        const { status, body } = await relay.request(path, {
          method: method.toUpperCase(),
          headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
          ...(method === "post" && { body: "[]" }),
        })
        const isIn = callers.includes("anyone") || scopes.split(" ").includes(scope)
        expect({ path, scopes, isIn: status !== 401 && status !== 403 }).toEqual({ path, scopes, isIn })
        if (isIn || scopes === "") continue
        expect(body).toMatchObject({ code: "insufficient_scope", message: expect.stringContaining(scope) })
      }
    }
  }
})

test("a token bound to an origin counts only with that Origin", async () => {
  const headers = await issuer.bearer({ key_class: "publishable", origin: "https://app.example" })
  expect((await relay.post("block-height", {}, headers)).body.code).toBe("origin-required")
  const foreign = await relay.post("block-height", {}, { ...headers, origin: "https://evil.example" })
  expect(foreign).toMatchObject({ status: 403, body: { code: "origin-mismatch" } })
  const malformed = await relay.post("block-height", {}, { ...headers, origin: "app.example" })
  expect(malformed).toMatchObject({ status: 400, body: { code: "invalid_request", details: { path: "Origin" } } })
  expect((await relay.post("block-height", {}, { ...headers, origin: "https://app.example" })).status).toBe(200)
})

test("every token is 503 auth_unavailable until a verification key has been fetched", async () => {
  const verify = () => Promise.reject(new KeysUnavailableError("none"))
  const own = await testRelay(rpc.url, { auth: createSignedSessionAuthPlugin({ verify }) })
  const answer = await own.post("send", {}, { authorization: "Bearer a.b.c" })
  expect(answer).toMatchObject({
    status: 503,
    body: { code: "auth_unavailable", retryable: true, submissionState: "not_submitted" },
  })
})

test.each(["X-Forwarded-For", "Forwarded", "Via"])("an unprotected relay recognises a proxy by %s", async (name) => {
  const warned: unknown[] = []
  const look = createProxyWarning({ warn: (fields: object) => void warned.push(fields) })
  for (const headers of [new Headers(), new Headers({ [name]: "x" }), new Headers({ [name]: "x" })])
    look((wanted) => headers.get(wanted) ?? undefined, false)
  expect(warned).toEqual([{ header: name.toLowerCase() }])
})

test("an unprotected relay serves only requests with this machine as Host and Origin", async () => {
  const { port } = await testRelay(rpc.url)
  // fetch sets Host, so this request is written as text.
  const send = async (headers: Record<string, string>): Promise<string> => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const answer = await rawExchange(
      port,
      "POST /transactions/v1/block-height HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n" +
        `Connection: close\r\n${lines.join("")}\r\n{}`,
    )
    const [, status, code = ""] = /^HTTP\/1\.1 (\d+)(?:[^]*?\r\nx-error-code: (\S+))?/i.exec(answer) ?? []
    return `${status} ${code}`
  }
  for (const host of ["localhost", "LOCALHOST:1", "localhost.:4002", "127.0.0.1:4002", "127.8.9.1", "[::1]:80"]) {
    expect(await send({ host })).toBe("200 ")
    expect(await send({ host, origin: "http://localhost.:3000" })).toBe("200 ")
    expect(await send({ host, origin: "http://localhost:3000" })).toBe("200 ")
    expect(await send({ host, origin: "https://evil.example" })).toBe("403 forbidden")
    expect(await send({ host, origin: "null" })).toBe("403 forbidden")
    expect(await send({ host, origin: "localhost" })).toBe("400 invalid_request")
  }
  for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"]) {
    expect(await send({ host })).toBe("403 forbidden")
  }
})
