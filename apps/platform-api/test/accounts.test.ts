import { recogniseKey } from "@svc/keys"
import { describe, expect, test } from "vitest"
import { forgetSignups } from "../src/auth/accounts.ts"
import { serviceInTest, testService, untilServed } from "./service.ts"

const minuteMs = 60_000
const patience = { timeout: 20_000, interval: 50 }
const slugShape = /^agt_[0-9a-hjkmnp-tv-z]{10}$/
const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe("accounts", () => {
  const service = testService("postgres")

  test("sign-up creates an agent whose key works at once and whose profile has the five fields", async () => {
    const { status, headers, body } = await service.call("POST", "/api/agents/signup", {
      body: { display_name: "  My \t agent " },
    })
    expect(status).toBe(201)
    expect(headers.get("cache-control")).toBe("no-store")
    expect(Object.keys(body)).toEqual(["slug", "display_name", "api_key", "message", "key_id"])
    expect(body.slug).toMatch(slugShape)
    expect(recogniseKey(body.api_key)).toBe("ak")
    const me = await service.call("GET", "/api/agents/me", { key: body.api_key })
    expect(me.status).toBe(200)
    expect(me.body).toEqual({
      slug: body.slug,
      display_name: "My agent",
      status: "active",
      created_at: expect.stringMatching(timeShape),
      last_seen_at: me.body.created_at,
    })
  })

  test("sign-up needs no body or name, ignores unknown fields, and by default names an agent after its slug", async () => {
    for (const call of [
      {},
      { body: {} },
      { body: { extra: 1 } },
      { body: { display_name: null } },
      { body: { display_name: "" } },
      { headers: { "content-type": "application/json" } },
    ]) {
      const { status, body } = await service.call("POST", "/api/agents/signup", call)
      expect(status).toBe(201)
      expect(body.display_name).toBe(`agent-${body.slug}`)
    }
  })

  test("sign-up ignores Authorization, and pages of other sites can't call it", async () => {
    const signUp = (headers: Record<string, string>) => service.call("POST", "/api/agents/signup", { headers })
    expect((await signUp({ authorization: "nonsense" })).status).toBe(201)
    expect((await signUp({ "sec-fetch-site": "same-origin" })).status).toBe(201)
    const cross = await signUp({ "sec-fetch-site": "cross-site", origin: "https://evil.example" })
    expect(cross.code).toBe("invalid-request")
    expect(cross.headers.has("access-control-allow-origin")).toBe(false)
    const preflight = await service.call("OPTIONS", "/api/agents/signup", {
      headers: { origin: "https://evil.example" },
    })
    expect([...preflight.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
  })

  test("of all pages only the documentation's can sign up and read the response, also cross-origin", async () => {
    const docs = { origin: "http://localhost:4001", "sec-fetch-site": "cross-site" }
    const preflight = await service.call("OPTIONS", "/api/agents/signup", { headers: docs })
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Content-Type")
    const made = await service.call("POST", "/api/agents/signup", { body: {}, headers: docs })
    expect(made.status).toBe(201)
    for (const { headers } of [preflight, made])
      expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([docs.origin, "Origin"])
    for (const origin of [
      "http://localhost:4001.evil.example",
      "http://localhost:4002",
      "https://localhost:4001",
      "null",
    ]) {
      const { headers } = await service.call("POST", "/api/agents/signup", { body: {}, headers: { origin } })
      expect([headers.get("access-control-allow-origin"), headers.get("vary")], origin).toEqual([null, "Origin"])
    }
  })

  test("a minted key works and is listed after older ones; the calling key is marked", async () => {
    const { key } = await service.signUp()
    const mint = (given: object) => service.call("POST", "/api/agents/me/keys", { key, body: given })
    const { status, body } = await mint({ name: " laptop " })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: "laptop", key_class: "secret", origin_allowlist: null, expires_at: null })
    const list = await service.call("GET", "/api/agents/me/keys", { key: body.key })
    const hint = (text: string) => `svc_ak_…${text.slice(-4)}`
    expect(list.body).toMatchObject([
      { name: "signup", current: false, status: "active", key_hint: hint(key) },
      { id: body.id, name: "laptop", current: true, key_hint: hint(body.key) },
    ])
    expect(JSON.stringify(list.body)).not.toContain(key)
    expect((await mint({ name: "x".repeat(64), expires_in_days: 3650 })).status).toBe(201)
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    expect((await mint({ expires_at })).body).toMatchObject({ expires_at })
  })

  test("lists are paged, and Link leads to the next page", async () => {
    const { key } = await service.signUp()
    for (let i = 0; i < 3; i++) await service.mint(key)
    const pages = await service.pages("/api/agents/me/keys?limit=3", { key })
    const names = pages.flatMap(({ body }) => body.map(({ name }: { name: string }) => name))
    expect(names).toEqual(["signup", "rotation", "rotation", "rotation"])
  })

  test("a publishable key has one normalised origin, and lasts a year by default", async () => {
    const { key } = await service.signUp()
    const body = { origin_allowlist: ["HTTPS://App.Example:443/"] }
    const made = await service.call("POST", "/api/agents/me/keys/publishable", { key, body })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: "publishable",
      key_class: "publishable",
      origin_allowlist: ["https://app.example"],
    })
    expect(recogniseKey(made.body.key)).toBe("pk")
    const days = (Date.parse(made.body.expires_at) - Date.now() - service.clock.offsetMs) / (24 * 60 * minuteMs)
    expect(Math.round(days)).toBe(365)
  })

  test("at most 25 keys are live, however many requests arrive at once; revoking one makes room", async () => {
    const { key } = await service.signUp()
    const { id } = await service.mint(key)
    const mint = () => untilServed(() => service.call("POST", "/api/agents/me/keys", { key }))
    for (const _ of Array.from({ length: 19 })) expect((await mint()).status).toBe(201)
    const answers = await Promise.all(Array.from({ length: 8 }, mint))
    const outcomes = answers.map(({ code }) => code ?? "made").toSorted()
    expect(outcomes).toEqual([...Array(4).fill("made"), ...Array(4).fill("too-many-keys")])
    await service.call("DELETE", `/api/agents/me/keys/${id}`, { key })
    expect((await service.call("POST", "/api/agents/me/keys", { key })).status).toBe(201)
  })

  test("a revoked key stops at once, even the calling or last one, and is no longer listed", async () => {
    const { key, id: own } = await service.signUp()
    const other = await service.mint(key)
    const revoked = await service.call("DELETE", `/api/agents/me/keys/${own}`, { key })
    expect(revoked.body).toEqual({ id: own, revoked: true, remaining_secret_keys: 1 })
    expect(await service.faultOf(key)).toBe("invalid-api-key")
    expect((await service.call("GET", "/api/agents/me/keys", { key: other.key })).body).toHaveLength(1)
    expect(await service.code("DELETE", `/api/agents/me/keys/${own}`, { key: other.key })).toBe("key-not-found")
    const last = await service.call("DELETE", `/api/agents/me/keys/${other.id}`, { key: other.key })
    expect(last.body.remaining_secret_keys).toBe(0)
    expect(await service.faultOf(other.key)).toBe("invalid-api-key")
  })

  test("if keys revoke each other in many simultaneous requests, a dead key revokes nothing", async () => {
    const { key, id: own } = await service.signUp()
    const other = await service.mint(key)
    const [first, second] = await Promise.all([
      service.call("DELETE", `/api/agents/me/keys/${other.id}`, { key }),
      service.call("DELETE", `/api/agents/me/keys/${own}`, { key: other.key }),
    ])
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 401]))
  })

  test("the time of last use only goes forward, at most once a minute", async () => {
    const { key } = await service.signUp()
    const seen = async () => {
      const [{ last_used_at }] = (await service.call("GET", "/api/agents/me/keys", { key })).body
      const { last_seen_at } = (await service.call("GET", "/api/agents/me", { key })).body
      return { last_used_at, last_seen_at }
    }
    const used = async (before: unknown) =>
      expect.poll(async () => (await seen()).last_used_at, patience).not.toBe(before)
    await used(null)
    const first = await seen()
    service.clock.offsetMs += 2 * minuteMs
    await used(first.last_used_at)
    await expect.poll(async () => (await seen()).last_seen_at > first.last_seen_at, patience).toBe(true)
    const second = await seen()
    service.clock.offsetMs -= 2 * minuteMs
    await service.call("GET", "/api/agents/me", { key })
    service.clock.offsetMs += 2 * minuteMs
    expect(await seen()).toEqual(second)
  })
})

describe("the sign-up limit", () => {
  const service = testService("postgres", { SVC_SIGNUPS_PER_HOUR: "5" })
  const signUp = (from: string, body: unknown = {}) => service.call("POST", "/api/agents/signup", { from, body })
  const later = (minutes: number) =>
    service.database().query(`update signups set at = at - $1::int * interval '1 minute'`, [minutes])

  test("five sign-ups per hour and address, however many come at once; the response says when to retry", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => untilServed(() => signUp("192.0.2.1"))))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({ code: "rate-limit-exceeded", retryable: true })
    expect(refused?.headers.get("retry-after")).toBe(String(refused?.body.retry_after_seconds))
    expect(refused?.body.retry_after_seconds).toBeGreaterThan(3590)
    expect((await signUp("192.0.2.2")).status).toBe(201)
  })

  test("an invalid body is rejected before the limit, and doesn't count", async () => {
    for (let i = 0; i < 6; i++) expect((await signUp("192.0.2.3", { display_name: " " })).status).toBe(400)
    for (let i = 0; i < 5; i++) expect((await signUp("192.0.2.3")).status).toBe(201)
    expect((await signUp("192.0.2.3")).status).toBe(429)
    expect((await signUp("192.0.2.3", { display_name: " " })).status).toBe(400)
  })

  test("IPv6 counts by /64, and a /48 as 16 of them", async () => {
    for (let i = 0; i < 5; i++) expect((await signUp(`2001:db8:1:2::${i + 1}`)).status).toBe(201)
    expect((await signUp("2001:db8:1:2:ffff::1")).status).toBe(429)
    expect((await signUp("2001:db8:1:3::1")).status).toBe(201)
    await service.database().query(
      `insert into signups (address, at)
      select '20010db80009' || lpad(to_hex(n / 4), 4, '0') || '/64', clock_timestamp() from generate_series(1, $1::int) n`,
      [80],
    )
    expect((await signUp("2001:db8:9:ffff::1")).status).toBe(429)
    expect((await signUp("2001:db8:a::1")).status).toBe(201)
  })

  test("after the clock is set back a day, nobody waits longer than the hour", async () => {
    for (let i = 0; i < 5; i++) expect((await signUp("192.0.2.5")).status).toBe(201)
    await later(-24 * 60)
    const refused = await signUp("192.0.2.5")
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(3600)
    await forgetSignups(service.database())
    await later(61)
    service.clock.offsetMs += 61 * minuteMs
    expect((await signUp("192.0.2.5")).status).toBe(201)
  })

  test("the window is any 60 minutes, not clock hours", async () => {
    for (let i = 0; i < 3; i++) await signUp("192.0.2.4")
    await later(40)
    for (let i = 0; i < 2; i++) expect((await signUp("192.0.2.4")).status).toBe(201)
    expect((await signUp("192.0.2.4")).status).toBe(429)
    await later(20)
    service.clock.offsetMs += 20 * minuteMs
    for (let i = 0; i < 3; i++) expect((await signUp("192.0.2.4")).status).toBe(201)
    expect((await signUp("192.0.2.4")).status).toBe(429)
  })
})

test("names of 64 characters are stored where the database counts bytes, as Debian's own does in a container", async () => {
  const one = await serviceInTest("postgres")
  await one.database().query("create database bytes encoding 'SQL_ASCII' locale 'C' template template0", [])
  const url = new URL(one.databaseUrl)
  url.pathname = "/bytes"
  const service = await serviceInTest("postgres", { DATABASE_URL: url.href })
  const name = "😀".repeat(64)
  const { status, body } = await service.call("POST", "/api/agents/signup", { body: { display_name: name } })
  expect([status, body.display_name]).toEqual([201, name])
  const minted = await service.call("POST", "/api/agents/me/keys", { key: body.api_key, body: { name } })
  expect([minted.status, minted.body.name]).toEqual([201, name])
})
