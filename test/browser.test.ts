// Publishable keys as pages meet them: Chromium sets Origin, Sec-Fetch-Site and preflights, and hides what CORS hides.
// @module-tag long
import { beforeAll, beforeEach, describe, expect, test } from "vitest"

import { ask, type Asked, askJson } from "./browser/ask.ts"
import { noBrowser, testBrowser, type Tab } from "./browser/chromium.ts"
import { newKeys } from "./browser/new-keys.ts"
import { startPageServer } from "./browser/page-server.ts"
import { claimsOf, session } from "./journey/shapes.ts"
import { beforeTests, testInstance } from "./start-service.ts"

const browser = testBrowser()
const instance = testInstance()
const testServer = () =>
  beforeTests(
    () => startPageServer(),
    ({ close }) => close(),
  )
const [server, otherServer] = [testServer(), testServer()]
let allowedOrigin: string
/** On the key's allowlist, and on the API's own host, so "same-site" to a browser. */
let allowed: Tab
/** On another host: "cross-site". */
let other: Tab
let key: string

describe.skipIf(noBrowser)("a page with a publishable key", () => {
  beforeAll(async () => {
    allowedOrigin = `http://localhost:${server.port}`
    allowed = await browser.open(allowedOrigin)
    other = await browser.open(`http://127.0.0.1:${otherServer.port}`)
    key = (await newKeys(instance.apiUrl, allowedOrigin)).publishable
  })
  beforeEach(() => {
    allowed.console()
    other.console()
  })

  const registry = (): Asked => ({ url: `${instance.apiUrl}/api/registry`, key })
  const mint = (scope: string): Asked => ({
    url: `${instance.apiUrl}/ws/sessions`,
    method: "POST",
    key,
    json: { websocket_url: `${instance.streamUrl}/transfers`, scope },
  })
  const height = (token: string): Asked => ({
    url: `${instance.relayUrl}/transactions/v1/block-height`,
    method: "POST",
    key: token,
    json: {},
  })

  test("on the key's origin a page reads the registry, mints a session and calls the relay, with a silent console", async () => {
    const stacks = await askJson(allowed.page, registry())
    expect(stacks).toMatchObject({
      status: 200,
      body: expect.arrayContaining([expect.objectContaining({ name: "transfers" })]),
    })
    expect(stacks.headers).not.toHaveProperty("x-auth-ignored")
    const answer = await askJson(allowed.page, mint("read transaction:inspect"))
    expect(answer.status).toBe(200)
    const { token } = session.parse(answer.body)
    expect(claimsOf(token)).toMatchObject({ aud: "transfers", origin: allowedOrigin, key_class: "publishable" })
    expect(await askJson(allowed.page, height(token))).toMatchObject({
      status: 200,
      body: { blockHeight: expect.stringMatching(/^\d+$/) },
    })
    expect(allowed.console()).toEqual([])
  })

  test("a page on another origin reads why its session is rejected, and its console shows only the rejection", async () => {
    expect(await askJson(other.page, mint("read"))).toMatchObject({
      status: 403,
      headers: { "x-error-code": "origin-not-allowed", "x-request-id": expect.any(String) },
      body: { code: "origin-not-allowed", error: expect.any(String) },
    })
    expect(other.console()).toEqual([
      "error: Failed to load resource: the server responded with a status of 403 (Forbidden)",
    ])
  })

  test("on another origin the registry ignores the key and says why", async () => {
    expect(await askJson(other.page, registry())).toMatchObject({
      status: 200,
      headers: { "x-auth-ignored": "origin-not-allowed" },
    })
    expect(other.console()).toEqual([])
  })

  test("a token minted by a page is rejected from any other origin, with a readable error", async () => {
    const { token } = session.parse((await askJson(allowed.page, mint("transaction:inspect"))).body)
    expect(await askJson(other.page, height(token))).toMatchObject({
      status: 403,
      headers: { "x-error-code": "origin-mismatch", "x-svc-upstream-attempted": "false" },
      body: { code: "origin-mismatch" },
    })
  })

  test("a preflight needs no key: a page without a valid one gets a readable 401, not a CORS failure", async () => {
    for (const [bad, code, challenge] of [
      [undefined, "missing-credentials", "Bearer"],
      ["svc_pk_none", "invalid-api-key", 'Bearer error="invalid_token"'],
    ] as const) {
      const { key: _key, ...asked } = mint("read")
      const seen = await askJson(allowed.page, bad === undefined ? asked : { ...asked, key: bad })
      expect(seen).toMatchObject({ status: 401, headers: { "www-authenticate": challenge }, body: { code } })
    }
    // Log lines come in order and a moment late.
    await expect
      .poll(() => instance.log())
      .toMatch(/route=\/ws\/sessions status=401[^]*route=\/ws\/sessions status=401/)
    const preflights = instance.log().match(/method=OPTIONS route=\S+ status=\d+/g)
    expect(preflights).toEqual(expect.arrayContaining([expect.stringContaining("status=204")]))
    expect(preflights?.filter((line) => !line.endsWith("status=204"))).toEqual([])
    expect(allowed.console().join()).not.toContain("CORS")
  })

  test("no page can sign up an agent and read its key; pages of other sites can't sign up at all", async () => {
    const signUp: Asked = { url: `${instance.apiUrl}/api/agents/signup`, method: "POST" }
    const statuses = () =>
      [...instance.log().matchAll(/method=POST route=\/api\/agents\/signup status=(\d+)/g)].map(([, status]) => status)
    for (const { page, console } of [allowed, other]) {
      expect(await ask(page, { ...signUp, json: { display_name: "Farmed" } })).toEqual({
        failed: "TypeError: Failed to fetch",
      })
      expect(console().join("\n")).toMatch(
        /signup' from origin '\S+' has been blocked by CORS policy: Response to preflight/,
      )
    }
    // Without a preflight the request leaves, and the answer stays hidden.
    expect(await ask(other.page, { ...signUp, mode: "no-cors" })).toMatchObject({ type: "opaque", status: 0, body: "" })
    expect(await ask(other.page, signUp)).toEqual({ failed: "TypeError: Failed to fetch" })
    expect(other.console().join("\n")).toContain("No 'Access-Control-Allow-Origin' header is present")
    // The one that made the key above, and the two without a preflight; the others were never sent.
    await expect.poll(statuses).toEqual(["201", "400", "400"])
  })
})
