import { mintKey } from "@svc/keys"
import { randomBytes } from "node:crypto"
import { startPostgres } from "@svc/testing"
import { describe, expect, test } from "vitest"
import { insertKey } from "../src/auth/accounts.ts"
import { setAgentStatus } from "../src/operator/accounts.ts"
import { beforeTests, serviceInTest, type TestService, testService } from "./service.ts"
import { newPerson } from "./work/person.ts"

const origin = "https://app.example"

describe("authentication", () => {
  const service = testService("postgres")
  const agent = beforeTests(() => service.signUp())
  const owner = beforeTests(() => newPerson(service))

  const outcome = async (method: string, path: string, call: Parameters<TestService["call"]>[2] = {}) => {
    const { status, code } = await service.call(method, path, call)
    return code === null ? String(status) : `${status} ${code}`
  }
  const me = (authorization?: string) =>
    outcome("GET", "/api/agents/me", authorization === undefined ? {} : { headers: { authorization } })

  test("a request without Authorization, or not with Bearer and one token, gets an error that says so", async () => {
    expect(await me()).toBe("401 missing-credentials")
    for (const text of ["", "Bearer", "Bearer ", "Basic abc", agent.key, `Bearer ${agent.key} x`, `Bearer a,b`]) {
      expect(await me(text), text.slice(0, 12)).toBe("401 invalid-authorization-format")
    }
    for (const word of ["Bearer", "bearer", "BEARER"]) expect(await me(`${word} ${agent.key}`)).toBe("200")
  })

  test("401 responses say how to authenticate, and errors have a code, an id and no caching", async () => {
    const ask = (headers: Record<string, string>) => service.call("GET", "/api/agents/me", { headers })
    const { headers, body } = await ask({ "x-request-id": "test-request-7" })
    const told = ["www-authenticate", "x-error-code", "cache-control", "x-request-id"].map((name) => headers.get(name))
    expect(told).toEqual(["Bearer", "missing-credentials", "no-store", "test-request-7"])
    expect(body).toEqual({
      error: expect.any(String),
      code: "missing-credentials",
      request_id: "test-request-7",
      retryable: false,
      hint: expect.any(String),
      docs: "http://localhost:4001/errors.md#platform-missing-credentials",
    })
    const sent = async (authorization: string) => {
      const refused = await ask({ authorization })
      return [refused.headers.get("www-authenticate"), refused.body.error, refused.body.hint]
    }
    const invalid = 'Bearer error="invalid_token"'
    const unknown = mintKey("ak", randomBytes, randomBytes(32))
    expect((await sent("nonsense"))[0]).toBe("Bearer")
    // An agent whose settings quote or don't fill in its key has not lost it.
    const advice = expect.stringMatching(/^Send the whole key as it was shown, without quotes\. /) as string
    for (const given of [`${agent.key}x`, `"${agent.key}"`, `<${agent.key}>`, "$API_KEY", "undefined"]) {
      expect(await sent(`Bearer ${given}`)).toEqual([invalid, expect.stringContaining("mistyped"), advice])
    }
    expect(await sent(`Bearer ${unknown}`)).toEqual([invalid, "The API key is unknown.", expect.any(String)])
  })

  test("each of many concurrent requests gets the account of its key, or why the key is invalid", async () => {
    const agents = await Promise.all(Array.from({ length: 40 }, () => service.signUp()))
    await setAgentStatus(service.database(), agents[1]?.slug ?? "", "disabled", new Date())
    await service.call("DELETE", `/api/agents/me/keys/${agents[2]?.id}`, { key: agents[2]?.key })
    const asked = [...agents, ...agents].map(({ key }) => service.call("GET", "/api/agents/me", { key }))
    const answers = (await Promise.all(asked)).map(({ status, code, body }) => `${status} ${code ?? body.slug}`)
    const expected = agents.map(({ slug }) => `200 ${slug}`)
    expected.splice(1, 2, "403 agent-account-disabled", "401 invalid-api-key")
    expect(answers).toEqual([...expected, ...expected])
  })

  test("each error of a key or its account has its code, and errors are checked in a fixed order", async () => {
    const db = service.database()
    const { slug, key, id } = await service.signUp()
    const fault = () => outcome("GET", "/api/agents/me", { key })
    await setAgentStatus(db, slug, "disabled", new Date())
    expect(await fault()).toBe("403 agent-account-disabled")
    // States that the tables themselves don't let come about.
    await db.query("alter table agent_profiles rename to agent_profiles_away", [])
    await db.query("create table agent_profiles (like agent_profiles_away)", [])
    expect(await fault()).toBe("401 agent-profile-missing")
    await db.query("alter table users rename to users_away", [])
    await db.query("create table users (like users_away)", [])
    expect(await fault()).toBe("401 user-not-found")
    await db.query("update api_keys set expires_at = now() where id = $1", [id])
    expect(await fault()).toBe("401 expired-api-key")
    await db.query("update api_keys set disabled_at = now() where id = $1", [id])
    expect(await fault()).toBe("401 disabled-api-key")
    await db.query("update api_keys set revoked_at = now() where id = $1", [id])
    expect(await fault()).toBe("401 invalid-api-key")
    for (const table of ["users", "agent_profiles"]) {
      await db.query(`drop table ${table}`, [])
      await db.query(`alter table ${table}_away rename to ${table}`, [])
    }
    expect(await me(`Bearer ${agent.key}`)).toBe("200")
  })

  test("a publishable key's origin is checked exactly, before its permissions", async () => {
    const publishable = await service.publishable(agent.key, [origin])
    const ask = (sent?: string) =>
      outcome("GET", "/api/agents/me", { key: publishable, headers: sent === undefined ? {} : { origin: sent } })
    expect(await ask()).toBe("403 origin-required")
    const near = [`${origin}.org`, origin.slice(0, -1), origin.replace("https", "http"), `${origin}:8443`, "null"]
    for (const other of near) expect(await ask(other)).toBe("403 origin-not-allowed")
    expect(await ask(origin)).toBe("403 secret-key-required")
    expect(await outcome("POST", "/api/builds", { key: publishable })).toBe("403 origin-required")
    expect(await outcome("POST", "/api/builds", { key: publishable, headers: { origin } })).toBe(
      "403 secret-key-required",
    )
  })

  test("all of /api/auth/keys is closed to agents, for every method and subpath; the error names their own routes", async () => {
    for (const path of ["/api/auth/keys", "/api/auth/keys/1", "/api/auth/keys/publishable", "/api/auth/keys/a/b"]) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const headers = { authorization: `Bearer ${agent.key}` }
        const refused = await (await fetch(`${service.url}${path}`, { method, headers })).json()
        const hint = "An agent's keys are at /api/agents/me/keys."
        expect(refused, `${method} ${path}`).toMatchObject({ code: "agent-account-forbidden", hint })
      }
    }
  })

  test("people create, list, rotate, disable, enable and revoke their keys at /api/auth/keys", async () => {
    const own = "/api/auth/keys"
    const { body: minted } = await owner.call("POST", own, { name: "desk" })
    expect(minted.key).toMatch(/^svc_sk_/)
    expect((await service.call("GET", own, { key: minted.key })).body).toHaveLength(2)
    expect(await service.publishable(owner.key, [origin], own)).toMatch(/^svc_pk_/)
    const path = `${own}/${minted.id}`
    expect((await owner.call("POST", `${path}/disable`)).body).toMatchObject({ id: minted.id, status: "disabled" })
    expect((await owner.call("POST", `${path}/enable`)).body).toMatchObject({ id: minted.id, status: "active" })
    const { status, body } = await owner.call("POST", `${path}/rotate`)
    expect([status, body.key.slice(0, 7), body.replaces]).toEqual([201, "svc_sk_", minted.id])
    expect((await owner.call("DELETE", path)).status).toBe(200)
    const raw = { headers: { authorization: `Bearer ${owner.key}` } }
    expect((await fetch(`${service.url}${own}/a/b`, raw)).status).toBe(404)
  })

  test("the database enforces what the code relies on", async () => {
    const db = service.database()
    const refused = (statement: string) =>
      expect(db.query(statement, []), statement).rejects.toThrow(/violates|only ever|stays/)
    await refused("insert into users (kind, created_at) values ('robot', now())")
    await refused("insert into users (kind, created_at) values ('human', now())")
    await refused(
      "insert into users (kind, email, created_at) select kind, upper(email), now() from users where email <> ''",
    )
    await refused("update agent_profiles set display_name = ''")
    await refused("update agent_profiles set slug = 'agt_ILO'")
    await refused("update agent_profiles set status = 'gone'")
    await refused("update api_keys set key_hash = '\\x00'")
    await refused("update api_keys set key_class = 'publishable' where prefix = 'svc_ak_'")
    await refused(
      "update api_keys set origin_allowlist = array['https://a.com', 'https://b.com'] where prefix = 'svc_pk_'",
    )
    await refused("update api_keys set revoked_at = null where revoked_at is not null")
    await refused("delete from users")
    await refused("update audit_log set actor = 'nobody'")
    await refused("delete from audit_log")
    await refused("truncate audit_log")
    const [user] = await db.query<{ id: number }>("select id from users where kind = 'agent' limit 1", [])
    const key = { kind: "ak", userId: user?.id ?? 0, name: "x", createdAt: new Date() } as const
    const fixed = { randomBytes: (size: number) => new Uint8Array(size), keySecret: new Uint8Array(32) }
    await db.transaction((tx) => insertKey(tx, key, fixed))
    await expect(db.transaction((tx) => insertKey(tx, key, fixed))).rejects.toThrow(/api_keys_key_hash_unique/)
  })
})

describe("limits per key and per failing address", () => {
  const server = beforeTests(startPostgres, ({ stop }) => stop())
  const limits = { SVC_REQUESTS_PER_MINUTE: "3", SVC_FAILED_AUTH_PER_MINUTE: "3" }
  const service = testService("postgres", () => ({ DATABASE_URL: server.url, ...limits }))

  /** How many look-ups of keys PostgreSQL is asked for meanwhile, by its own log. */
  const lookUps = async (work: () => Promise<void>): Promise<number> => {
    const logged = async (text: string) => (await server.log()).split(text).length - 1
    const db = service.database()
    await db.query("alter system set log_statement = 'all'", [])
    await db.query("select pg_reload_conf()", [])
    const marked = async () => {
      await db.query("select 'marker'", [])
      return logged("'marker'")
    }
    await expect.poll(marked).toBeGreaterThan(0)
    const before = await logged("\"key_hash\", 'hex'")
    await work()
    return (await logged("\"key_hash\", 'hex'")) - before
  }
  const me = (key: string, from?: string) => service.call("GET", "/api/agents/me", { key, from })

  test("each key has its own limit of requests per minute, and requests above it cause no look-up", async () => {
    const [one, two] = [await service.signUp(), await service.signUp()]
    const asked = await lookUps(async () => {
      for (let i = 0; i < 3; i++) expect((await me(one.key)).status).toBe(200)
      for (let i = 0; i < 10; i++) {
        const refused = await me(one.key)
        expect([refused.status, refused.code, refused.body.retryable]).toEqual([429, "rate-limit-exceeded", true])
        expect(Number(refused.headers.get("retry-after"))).toBe(refused.body.retry_after_seconds)
      }
    })
    expect(asked).toBe(3)
    expect((await me(two.key)).status).toBe(200)
  })

  test("an address that keeps failing gets 429 instead of 401, invalid keys cause no look-up, and valid ones still work", async () => {
    const from = "192.0.2.11"
    const [old, unused] = [await service.signUp(), await service.signUp()]
    const revoked = await service.mint(old.key)
    await service.call("DELETE", `/api/agents/me/keys/${revoked.id}`, { key: old.key })
    const replica = await serviceInTest("postgres", { DATABASE_URL: server.url })
    const forge = async () => (await me(mintKey("ak", randomBytes, randomBytes(32)), from)).status
    const asked = await lookUps(async () => {
      const statuses = [(await me(revoked.key, from)).status]
      for (let i = 0; i < 40; i++) statuses.push(await forge(), (await me(revoked.key, from)).status)
      expect(statuses).toEqual([...Array(3).fill(401), ...Array(78).fill(429)])
      const forged = mintKey("ak", randomBytes, randomBytes(32))
      const others = [{ from }, { from, key: "nonsense" }, { from: "192.0.2.10" }].map(async (call) =>
        service.call("GET", "/api/specs", call),
      )
      expect((await Promise.all(others)).map(({ status }) => status)).toEqual([429, 429, 401])
      const registry = await service.call("GET", "/api/registry", { from, key: forged })
      expect([registry.status, registry.headers.get("x-auth-ignored")]).toEqual([200, "rate-limit-exceeded"])
    })
    expect(asked).toBe(3)
    for (const { key } of [unused, await service.signUp(), await replica.signUp(), old])
      expect([await forge(), (await me(key, from)).status]).toEqual([429, 200])
  })
})
