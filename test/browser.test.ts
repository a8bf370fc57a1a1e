// Publishable keys as pages meet them: Chromium sets Origin, Sec-Fetch-Site and preflights, and hides what CORS hides.
// @module-tag long
import { beforeAll, beforeEach, describe, expect, test } from "vitest"

import { type Asked, askJson } from "./browser/ask.ts"
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

  test("a token minted by a page is rejected from any other origin, with a readable error", async () => {
    const { token } = session.parse((await askJson(allowed.page, mint("transaction:inspect"))).body)
    expect(await askJson(other.page, height(token))).toMatchObject({
      status: 403,
      headers: { "x-error-code": "origin-mismatch", "x-svc-upstream-attempted": "false" },
      body: { code: "origin-mismatch" },
    })
  })
})
