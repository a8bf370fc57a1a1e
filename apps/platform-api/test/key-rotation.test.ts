import { describe, expect, test } from "vitest"
import { changeKey, listAudit } from "../src/operator/accounts.ts"
import { originsPerKey } from "../src/db/schema/index.ts"
import { databaseKinds, type TestService, testService } from "./service.ts"
import { newPerson } from "./work/person.ts"

const minuteMs = 60_000
const dayMs = 86_400_000
const own = "/api/agents/me/keys"

type Body = { readonly name?: unknown; readonly overlap_seconds?: unknown }

const rotate = (service: TestService, key: string, id: unknown, body: Body = {}) =>
  service.call("POST", `${own}/${String(id)}/rotate`, { key, body })
const codeOf = async (service: TestService, key: string) => (await service.call("GET", "/api/agents/me", { key })).code
const list = async (service: TestService, key: string) => (await service.call("GET", own, { key })).body

describe.each(databaseKinds)("key rotation on %s", (kind) => {
  const service = testService(kind)

  const agent = async () => {
    const { body } = await service.call("POST", "/api/agents/signup")
    return { key: String(body.api_key), id: Number(body.key_id) }
  }

  test("the calling key gets a successor; both work until the overlap is over, and the old one stays listed", async () => {
    const { key, id } = await agent()
    expect((await list(service, key))[0]).toMatchObject({ id, current: true })
    const { status, headers, body } = await rotate(service, key, id)
    expect([status, headers.get("cache-control")]).toEqual([201, "no-store"])
    expect(body).toMatchObject({ name: "signup", key_class: "secret", origin_allowlist: null, expires_at: null })
    expect(body).toMatchObject({ replaces: id, message: expect.any(String) })
    expect(Date.parse(body.old_expires_at) - Date.now() - service.clock.offsetMs).toBeGreaterThan(59 * minuteMs)
    expect([await codeOf(service, key), await codeOf(service, body.key)]).toEqual([null, null])
    const [old, made] = await list(service, body.key)
    expect(old).toMatchObject({ id, replaced_by: body.id, expires_at: body.old_expires_at, status: "active" })
    expect(made).not.toHaveProperty("replaced_by")
    service.clock.offsetMs += 60 * minuteMs
    expect([await codeOf(service, key), await codeOf(service, body.key)]).toEqual(["expired-api-key", null])
    expect((await list(service, body.key))[0]).toMatchObject({ id, status: "expired", replaced_by: body.id })
  })

  test("without an overlap the old key is dead with the answer", async () => {
    const { key, id } = await agent()
    const { body } = await rotate(service, key, id, { overlap_seconds: 0, name: " next " })
    expect(body.name).toBe("next")
    expect(await codeOf(service, key)).toBe("expired-api-key")
  })

  test("class, origins and length of life stay, and a key that ends sooner keeps its end", async () => {
    const { key } = await agent()
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

  test("a replaced key does its work until it ends, and manages no keys, whatever body or id", async () => {
    const { key, id } = await agent()
    const { body: next } = await rotate(service, key, id)
    expect(await codeOf(service, next.key)).toBeNull()
    const asked: readonly (readonly [string, string, unknown?])[] = [
      ["POST", own],
      ["POST", own, { name: 7 }],
      ["POST", `${own}/publishable`, {}],
      ["DELETE", `${own}/${next.id}`],
      ["DELETE", `${own}/${id}`],
      ["DELETE", `${own}/nonsense`],
      ["POST", `${own}/${next.id}/rotate`],
      ["POST", `${own}/nonsense/rotate`],
    ]
    for (const [method, path, body] of asked) {
      const { status, code } = await service.call(method, path, { key, body })
      expect([path, status, code]).toEqual([path, 403, "key-replaced"])
    }
    expect((await list(service, key)).length).toBe(2)
    expect((await service.call("GET", "/api/specs", { key })).status).toBe(200)
  })

  test("a lost answer: the replaced key is rotated again, by itself too, as long as its successor is unused", async () => {
    const { key, id } = await agent()
    const lost = (await rotate(service, key, id)).body
    const found = (await rotate(service, key, id)).body
    expect(await codeOf(service, lost.key)).toBe("invalid-api-key")
    expect((await list(service, key)).map((entry: { id: number }) => entry.id)).toEqual([id, found.id])
    expect(await codeOf(service, found.key)).toBeNull()
    for (const by of [key, found.key]) {
      const { status, code } = await rotate(service, by, id)
      expect([status, code]).toEqual([409, "key-already-rotated"])
    }
  })

  test("a successor that its owner or the operator has ended is not brought back by rotating again", async () => {
    const { key, id } = await agent()
    const other = (await service.call("POST", own, { key })).body
    const next = (await rotate(service, key, id)).body
    await service.call("DELETE", `${own}/${next.id}`, { key: other.key })
    expect((await rotate(service, key, id)).code).toBe("key-already-rotated")
  })

  test("only an active key of the account rotates, and what is asked for is checked", async () => {
    const [mine, theirs] = [await agent(), await agent()]
    const short = (await service.call("POST", own, { key: mine.key, body: { expires_in_days: 1 } })).body
    service.clock.offsetMs += dayMs
    expect((await rotate(service, mine.key, short.id)).code).toBe("key-not-active")
    for (const id of [theirs.id, 2_000_000_000, 0, "99999999999"]) {
      const { status, code } = await rotate(service, mine.key, id)
      expect([status, code]).toEqual([404, "key-not-found"])
    }
    expect((await rotate(service, mine.key, "x")).code).toBe("invalid-key-id")
    expect((await rotate(service, mine.key, mine.id, { name: "" })).code).toBe("invalid-key-name")
    for (const overlap_seconds of [-1, 604_801, 1.5, "60", null]) {
      const { status, code, body } = await rotate(service, mine.key, mine.id, { overlap_seconds })
      expect([status, code]).toEqual([400, "invalid-request"])
      expect(body.details).toEqual({ path: "overlap_seconds", reason: "must be an integer from 0 to 604800" })
    }
    expect((await list(service, mine.key))[0]).not.toHaveProperty("replaced_by")
  })

  test("replaced keys leave room for 25 others, and no more than 25 of them live", async () => {
    const { key, id } = await agent()
    const keys = [{ key, id }]
    for (let i = 0; i < 24; i++) keys.push((await service.call("POST", own, { key })).body)
    expect((await service.call("POST", own, { key })).code).toBe("too-many-keys")
    const current = []
    for (const each of keys) current.push((await rotate(service, each.key, each.id)).body)
    const [first, second] = current
    expect((await service.call("POST", own, { key: first.key })).code).toBe("too-many-keys")
    const full = await rotate(service, first.key, first.id)
    expect([full.status, full.code]).toEqual([400, "too-many-keys"])
    expect((await rotate(service, first.key, first.id, { overlap_seconds: 0 })).status).toBe(201)
    await service.call("DELETE", `${own}/${id}`, { key: second.key })
    expect((await rotate(service, second.key, second.id)).status).toBe(201)
  })

  test("the audit trail names both keys, and the lost one that was revoked", async () => {
    const { key, id } = await agent()
    const lost = (await rotate(service, key, id)).body
    const found = (await rotate(service, key, id)).body
    const rows = await listAudit(service.database(), 3)
    expect(rows.map(({ action, target }) => `${action} ${target}`)).toEqual([
      `key.rotate key:${id} key:${found.id}`,
      `key.revoke key:${lost.id}`,
      `key.rotate key:${id} key:${lost.id}`,
    ])
    expect(rows[0]).toMatchObject({ actor: expect.stringMatching(/^agent:agt_/), request_id: expect.any(String) })
  })

  test("people rotate their keys at a path of their own, which tells agents nothing", async () => {
    const person = await newPerson(service)
    const [{ id }] = (await person.call("GET", "/api/auth/keys")).body
    const path = `/api/auth/keys/${id}/rotate`
    const { status, body } = await person.call("POST", path)
    expect([status, body.key.slice(0, 7), body.replaces]).toEqual([201, "svc_sk_", id])
    const { key } = await agent()
    expect((await service.call("POST", path, { key })).code).toBe("agent-account-forbidden")
  })
})

describe.each(databaseKinds)("disabled keys on %s", (kind) => {
  const service = testService(kind)

  const turn = (verb: "disable" | "enable", key: string, id: unknown, path = own) =>
    service.call("POST", `${path}/${String(id)}/${verb}`, { key })
  const pair = async () => {
    const { body: first } = await service.call("POST", "/api/agents/signup")
    const { body: second } = await service.call("POST", own, { key: first.api_key })
    return { first: { key: String(first.api_key), id: Number(first.key_id) }, second }
  }

  test("the owner disables and enables any key, the calling one too, as often as it likes", async () => {
    const { first, second } = await pair()
    for (const round of [1, 2]) {
      const { status, headers, body } = await turn("disable", first.key, second.id)
      expect([round, status, headers.get("cache-control")]).toEqual([round, 200, "no-store"])
      expect(body).toEqual((await list(service, first.key))[1])
      expect(body).toMatchObject({ id: second.id, status: "disabled", current: false })
      expect(await codeOf(service, second.key)).toBe("disabled-api-key")
    }
    for (const round of [1, 2]) {
      const { status, body } = await turn("enable", first.key, second.id)
      expect([round, status, body.status, await codeOf(service, second.key)]).toEqual([round, 200, "active", null])
    }
    expect((await turn("disable", first.key, first.id)).body).toMatchObject({ status: "disabled", current: true })
    expect((await turn("enable", first.key, first.id)).code).toBe("disabled-api-key")
    expect((await turn("enable", second.key, first.id)).status).toBe(200)
    const rows = (await listAudit(service.database(), 4)).map(({ action, target }) => `${action} ${target}`)
    expect(rows.toReversed()).toEqual([
      `key.disable key:${second.id}`,
      `key.enable key:${second.id}`,
      `key.disable key:${first.id}`,
      `key.enable key:${first.id}`,
    ])
  })

  test("what the operator disabled, the owner can't enable, whoever disabled it first", async () => {
    const { first, second } = await pair()
    await turn("disable", first.key, second.id)
    await changeKey(service.database(), second.id, "disable", new Date())
    expect((await turn("disable", first.key, second.id)).status).toBe(200)
    const { status, code } = await turn("enable", first.key, second.id)
    expect([status, code]).toEqual([403, "key-disabled-by-operator"])
    await changeKey(service.database(), second.id, "enable", new Date())
    expect(await codeOf(service, second.key)).toBeNull()
    // A release that didn't know who disabled a key left this.
    await service.database().query("update api_keys set disabled_at = now() where id = $1", [second.id])
    expect((await turn("enable", first.key, second.id)).code).toBe("key-disabled-by-operator")
  })

  test("only live keys of the account, by a key that manages keys", async () => {
    const { first, second } = await pair()
    const other = await pair()
    for (const verb of ["disable", "enable"] as const) {
      for (const id of [other.first.id, 2_000_000_000, 0]) {
        const { status, code } = await turn(verb, first.key, id)
        expect([status, code]).toEqual([404, "key-not-found"])
      }
      expect((await turn(verb, first.key, "x")).code).toBe("invalid-key-id")
      expect((await turn(verb, first.key, first.id, "/api/auth/keys")).code).toBe("agent-account-forbidden")
    }
    await rotate(service, second.key, second.id)
    expect((await turn("disable", second.key, first.id)).code).toBe("key-replaced")
    await service.call("DELETE", `${own}/${second.id}`, { key: first.key })
    expect((await turn("enable", first.key, second.id)).code).toBe("key-not-found")
  })

  test("people disable and enable their keys at a path of their own", async () => {
    const person = await newPerson(service)
    const { body } = await person.call("POST", "/api/auth/keys")
    for (const [verb, status] of [
      ["disable", "disabled"],
      ["enable", "active"],
    ] as const) {
      expect((await turn(verb, person.key, body.id, "/api/auth/keys")).body).toMatchObject({ id: body.id, status })
    }
  })
})

describe("key rotation on two replicas at once", () => {
  const first = testService("postgres")
  const second = testService("postgres", () => ({ DATABASE_URL: first.databaseUrl }))
  const replica = (index: number) => (index % 2 === 0 ? first : second)

  test("however often a key is rotated at once, one successor lives", async () => {
    for (let round = 0; round < 5; round++) {
      const { body } = await replica(0).call("POST", "/api/agents/signup")
      const asked = Array.from({ length: 12 }, (_, index) => rotate(replica(index), body.api_key, body.key_id))
      const answers = await Promise.all(asked)
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
      const codes = await Promise.all(answers.map((answer, index) => codeOf(replica(index), answer.body.key)))
      expect(codes.filter((code) => code === null)).toHaveLength(1)
      expect(new Set(codes)).toEqual(new Set([null, "invalid-api-key"]))
      expect((await list(replica(1), body.api_key)).length).toBe(2)
    }
  })

  test("a successor's first use and another rotation of what it replaces: one of the two is refused, never neither", async () => {
    for (let round = 0; round < 25; round++) {
      const { body } = await replica(0).call("POST", "/api/agents/signup")
      const next = (await rotate(replica(0), body.api_key, body.key_id)).body
      const calls = [
        () => replica(1).call("GET", "/api/agents/me", { key: next.key }),
        () => rotate(replica(0), body.api_key, body.key_id),
      ]
      // Either has the better start in turn.
      const started = (round % 2 === 0 ? calls : calls.toReversed()).map((call) => call())
      const [used, again] = round % 2 === 0 ? started : started.toReversed()
      const outcome = `${(await used)?.status} ${(await again)?.status}`
      expect(["200 409", "401 201"]).toContain(outcome)
      const dead = (await used)?.status === 401
      expect(await codeOf(replica(0), next.key)).toBe(dead ? "invalid-api-key" : null)
    }
  })
})
