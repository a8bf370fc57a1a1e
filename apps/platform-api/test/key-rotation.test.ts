import { describe, expect, test } from "vitest"
import { changeKey, listAudit } from "../src/operator/accounts.ts"
import { originsPerKey } from "../src/db/schema/index.ts"
import { type TestService, testService, untilServed } from "./service.ts"

const minuteMs = 60_000
const dayMs = 86_400_000
const own = "/api/agents/me/keys"

type Body = { readonly name?: unknown; readonly overlap_seconds?: unknown }

const rotate = (service: TestService, key: string, id: unknown, body: Body = {}) =>
  untilServed(() => service.call("POST", `${own}/${String(id)}/rotate`, { key, body }))
const list = async (service: TestService, key: string) => (await service.call("GET", own, { key })).body
const auditOf = async (service: TestService, count: number) =>
  (await listAudit(service.database(), count)).map(({ action, target }) => `${action} ${target}`).toReversed()

describe("key rotation", () => {
  const service = testService("postgres")

  test("the calling key gets a successor; both work during the overlap, and the old one stays listed", async () => {
    const { key, id } = await service.signUp()
    const { status, headers, body } = await rotate(service, key, id)
    expect([status, headers.get("cache-control")]).toEqual([201, "no-store"])
    expect(body).toMatchObject({ name: "signup", key_class: "secret", expires_at: null, replaces: id })
    expect(Date.parse(body.old_expires_at) - Date.now() - service.clock.offsetMs).toBeGreaterThan(59 * minuteMs)
    expect([await service.faultOf(key), await service.faultOf(body.key)]).toEqual([null, null])
    const [old, made] = await list(service, body.key)
    expect(old).toMatchObject({ id, replaced_by: body.id, expires_at: body.old_expires_at, status: "active" })
    expect(made).not.toHaveProperty("replaced_by")
    service.clock.offsetMs += 60 * minuteMs
    expect([await service.faultOf(key), await service.faultOf(body.key)]).toEqual(["expired-api-key", null])
    expect((await list(service, body.key))[0]).toMatchObject({ id, status: "expired", replaced_by: body.id })
    const { body: last } = await rotate(service, body.key, body.id, { overlap_seconds: 0, name: " next " })
    expect([last.name, await service.faultOf(body.key)]).toEqual(["next", "expired-api-key"])
  })

  test("class, origins and lifetime stay, and a key that expires sooner keeps its expiry", async () => {
    const { key } = await service.signUp()
    const origins = Array.from({ length: originsPerKey }, (_, index) => `https://app-${index}.example`)
    const pk = { key, body: { origin_allowlist: origins, expires_in_days: 10 } }
    const page = (await service.call("POST", `${own}/publishable`, pk)).body
    service.clock.offsetMs += 9.5 * dayMs
    const { body } = await rotate(service, key, page.id, { overlap_seconds: 86_400 })
    expect(body).toMatchObject({ key_class: "publishable", origin_allowlist: origins })
    expect(body.old_expires_at).toBe(page.expires_at)
    const life = Date.parse(body.expires_at) - Date.now() - service.clock.offsetMs
    expect(Math.round(life / minuteMs)).toBe((10 * dayMs) / minuteMs)
    const again = (await rotate(service, key, page.id)).body
    expect(Date.parse(again.expires_at)).toBeGreaterThanOrEqual(Date.parse(body.expires_at))
    expect(Date.parse(again.expires_at) - Date.parse(body.expires_at)).toBeLessThan(minuteMs)
  })

  test("a replaced key works until it ends, but can't manage keys, whatever the body or id", async () => {
    const { key, id } = await service.signUp()
    const { body: next } = await rotate(service, key, id)
    expect(await service.faultOf(next.key)).toBeNull()
    const asked: readonly (readonly [string, string, unknown?])[] = [
      ["POST", own],
      ["POST", own, { name: 7 }],
      ["POST", `${own}/publishable`, {}],
      ["DELETE", `${own}/${next.id}`],
      ["DELETE", `${own}/${id}`],
      ["DELETE", `${own}/nonsense`],
      ["POST", `${own}/${next.id}/rotate`],
      ["POST", `${own}/nonsense/rotate`],
      ["POST", `${own}/${next.id}/disable`],
    ]
    for (const [method, path, body] of asked) {
      expect(await service.code(method, path, { key, body }), path).toBe("key-replaced")
    }
    expect((await list(service, key)).length).toBe(2)
    expect((await service.call("GET", "/api/specs", { key })).status).toBe(200)
  })

  test("after a lost response the replaced key can rotate again, until its successor is used or revoked", async () => {
    const { key, id } = await service.signUp()
    const other = await service.mint(key)
    const lost = (await rotate(service, key, id)).body
    const found = (await rotate(service, key, id)).body
    expect(await auditOf(service, 3)).toEqual([
      `key.rotate key:${id} key:${lost.id}`,
      `key.revoke key:${lost.id}`,
      `key.rotate key:${id} key:${found.id}`,
    ])
    expect(await service.faultOf(lost.key)).toBe("invalid-api-key")
    expect((await list(service, key)).map((entry: { id: number }) => entry.id)).toEqual([id, other.id, found.id])
    const { body: ended } = await rotate(service, other.key, other.id)
    await service.call("DELETE", `${own}/${ended.id}`, { key: found.key })
    for (const [by, of] of [
      [key, id],
      [found.key, id],
      [other.key, other.id],
    ]) {
      expect((await rotate(service, by, of)).code).toBe("key-already-rotated")
    }
  })

  test("only an active key can rotate, and gets a valid name", async () => {
    const mine = await service.signUp()
    const short = await service.mint(mine.key, { expires_in_days: 1 })
    service.clock.offsetMs += dayMs
    expect((await rotate(service, mine.key, short.id)).code).toBe("key-not-active")
    expect((await rotate(service, mine.key, mine.id, { name: "" })).code).toBe("invalid-key-name")
    expect((await list(service, mine.key))[0]).not.toHaveProperty("replaced_by")
  })

  test("replaced keys don't count against the limit of 25 keys, and at most 25 of them are live", async () => {
    const { key, id } = await service.signUp()
    const keys = [{ key, id }]
    for (let i = 0; i < 24; i++) keys.push(await service.mint(key))
    const current = []
    for (const each of keys) current.push((await rotate(service, each.key, each.id)).body)
    const [first, second] = current
    expect(await service.code("POST", own, { key: first.key })).toBe("too-many-keys")
    expect((await rotate(service, first.key, first.id)).code).toBe("too-many-keys")
    expect((await rotate(service, first.key, first.id, { overlap_seconds: 0 })).status).toBe(201)
    await service.call("DELETE", `${own}/${id}`, { key: second.key })
    expect((await rotate(service, second.key, second.id)).status).toBe(201)
  })
})

describe("disabled keys", () => {
  const service = testService("postgres")

  const turn = (verb: "disable" | "enable", key: string, id: unknown) =>
    service.call("POST", `${own}/${String(id)}/${verb}`, { key })
  const pair = async () => {
    const first = await service.signUp()
    return { first, second: await service.mint(first.key) }
  }

  test("the owner can disable and enable any key repeatedly, even the calling one", async () => {
    const { first, second } = await pair()
    for (const round of [1, 2]) {
      const { status, headers, body } = await turn("disable", first.key, second.id)
      expect([round, status, headers.get("cache-control")]).toEqual([round, 200, "no-store"])
      expect(body).toEqual((await list(service, first.key))[1])
      expect(body).toMatchObject({ id: second.id, status: "disabled", current: false })
      expect(await service.faultOf(second.key)).toBe("disabled-api-key")
    }
    for (const round of [1, 2]) {
      const { status, body } = await turn("enable", first.key, second.id)
      expect([round, status, body.status, await service.faultOf(second.key)]).toEqual([round, 200, "active", null])
    }
    expect((await turn("disable", first.key, first.id)).body).toMatchObject({ status: "disabled", current: true })
    expect((await turn("enable", first.key, first.id)).code).toBe("disabled-api-key")
    expect((await turn("enable", second.key, first.id)).status).toBe(200)
    expect(await auditOf(service, 4)).toEqual([
      `key.disable key:${second.id}`,
      `key.enable key:${second.id}`,
      `key.disable key:${first.id}`,
      `key.enable key:${first.id}`,
    ])
  })

  test("the owner can't enable what the operator disabled, whoever disabled it first", async () => {
    const { first, second } = await pair()
    await turn("disable", first.key, second.id)
    await changeKey(service.database(), second.id, "disable", new Date())
    expect((await turn("disable", first.key, second.id)).status).toBe(200)
    expect((await turn("enable", first.key, second.id)).code).toBe("key-disabled-by-operator")
    await changeKey(service.database(), second.id, "enable", new Date())
    expect(await service.faultOf(second.key)).toBeNull()
    // A release that didn't know who disabled a key left this.
    await service.database().query("update api_keys set disabled_at = now() where id = $1", [second.id])
    expect((await turn("enable", first.key, second.id)).code).toBe("key-disabled-by-operator")
  })

  test("only live keys of the account can be changed, and an id is digits, of any length", async () => {
    const { first, second } = await pair()
    const other = await service.signUp()
    await service.call("DELETE", `${own}/${second.id}`, { key: first.key })
    const absent = [other.id, second.id, 2_000_000_000, 2_147_483_648, 0, "99999999999999999999"]
    for (const what of ["DELETE", "POST /rotate", "POST /disable", "POST /enable"]) {
      const [method = "", verb = ""] = what.split(" ")
      const codeOf = (id: unknown) => service.code(method, `${own}/${String(id)}${verb}`, { key: first.key })
      for (const id of absent) expect([what, id, await codeOf(id)]).toEqual([what, id, "key-not-found"])
      for (const id of ["x", "-1", "1.5", "1e3", "%201", "٣"])
        expect([what, id, await codeOf(id)]).toEqual([what, id, "invalid-key-id"])
    }
  })
})

describe("key rotation on two replicas at once", () => {
  const first = testService("postgres")
  const second = testService("postgres", () => ({ DATABASE_URL: first.databaseUrl }))
  const replica = (index: number) => (index % 2 === 0 ? first : second)

  test("however often a key is rotated at once, one successor remains", async () => {
    for (let round = 0; round < 5; round++) {
      const { key, id } = await replica(0).signUp()
      const asked = Array.from({ length: 12 }, (_, index) => rotate(replica(index), key, id))
      const answers = await Promise.all(asked)
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
      const codes = await Promise.all(answers.map((answer, index) => replica(index).faultOf(answer.body.key)))
      expect(codes.filter((code) => code === null)).toHaveLength(1)
      expect(new Set(codes)).toEqual(new Set([null, "invalid-api-key"]))
      expect((await list(replica(1), key)).length).toBe(2)
    }
  })

  test("of simultaneous rotations without overlap, at replicas with different clocks, exactly one succeeds", async () => {
    first.clock.offsetMs = 1500
    for (let round = 0; round < 5; round++) {
      const { key, id } = await replica(1).signUp()
      const asked = Array.from({ length: 12 }, (_, index) => rotate(replica(index), key, id, { overlap_seconds: 0 }))
      const responses = await Promise.all(asked)
      const made = responses.filter(({ status }) => status === 201)
      expect(made).toHaveLength(1)
      const codes = responses.flatMap(({ code }) => code ?? [])
      expect(["expired-api-key", "key-not-active"]).toEqual(expect.arrayContaining(codes))
      expect(await replica(0).faultOf(made[0]?.body.key)).toBeNull()
    }
    first.clock.offsetMs = 0
  })

  test("if a successor's first use and another rotation coincide, exactly one of them is rejected", async () => {
    for (let round = 0; round < 25; round++) {
      const { key, id } = await replica(0).signUp()
      const next = (await rotate(replica(0), key, id)).body
      const calls = [
        () => replica(1).call("GET", "/api/agents/me", { key: next.key }),
        () => rotate(replica(0), key, id),
      ]
      // Either has the better start in turn.
      const started = (round % 2 === 0 ? calls : calls.toReversed()).map((call) => call())
      const [used, again] = round % 2 === 0 ? started : started.toReversed()
      const outcome = `${(await used)?.status} ${(await again)?.status}`
      expect(["200 409", "401 201"]).toContain(outcome)
      const dead = (await used)?.status === 401
      expect(await replica(0).faultOf(next.key)).toBe(dead ? "invalid-api-key" : null)
    }
  })
})
