import { randomBytes } from "node:crypto"
import { mintKey } from "@svc/keys"
import postgres from "postgres"
import { describe, expect, test } from "vitest"
import { beforeTests, databaseKinds, testService } from "./service.ts"

const many = 40

describe("while one account's or address's requests wait for a lock", () => {
  const service = testService("postgres")
  const other = beforeTests(
    () => Promise.resolve(postgres(service.databaseUrl, { max: 1 })),
    (sql) => sql.end(),
  )

  /** Locks something as another replica's transaction does, lets forty calls want it, and asks for others meanwhile. */
  const crowd = async (lock: string, call: () => Promise<{ readonly code: string | null }>, key: string) => {
    await other.unsafe(`begin; ${lock}`)
    const crowded = Array.from({ length: many }, call)
    const answers: string[] = []
    for (let round = 0; round < 5; round++) {
      answers.push(`${(await service.call("GET", "/api/agents/me", { key })).status}`)
      answers.push(`${(await service.call("POST", "/api/agents/me/keys", { key, body: {} })).status}`)
      answers.push(`${(await service.call("POST", "/api/agents/signup", { from: `192.0.2.${round}` })).status}`)
    }
    await other.unsafe("rollback")
    expect([...new Set(answers)].toSorted()).toEqual(["200", "201"])
    return (await Promise.all(crowded)).map(({ code }) => code)
  }

  test.each([
    ["revocations", "DELETE", "/api/agents/me/keys/2147483647", undefined, ["key-not-found", "service-unavailable"]],
    ["new keys", "POST", "/api/agents/me/keys", {}, ["none", "service-unavailable", "too-many-keys"]],
  ])("%s of one account leave the database free for all others", async (_, method, path, body, possible) => {
    const [greedy, good] = [await service.signUp(), await service.signUp()]
    const lock = `select * from users where id = (select user_id from agent_profiles where slug = '${greedy.slug}') for update`
    const call = () => service.call(method, path, { key: greedy.key, body })
    const codes = await crowd(lock, call, good.key)
    expect(possible).toEqual(expect.arrayContaining([...new Set(codes.map((code) => code ?? "none"))]))
  })

  test("sign-ups from one address leave the database free for all others", async () => {
    const good = await service.signUp()
    const lock = "select pg_advisory_lock(1398166611, hashtext('203.0.113.9'))"
    const codes = await crowd(lock, () => service.call("POST", "/api/agents/signup", { from: "203.0.113.9" }), good.key)
    await other.unsafe("select pg_advisory_unlock_all()")
    expect([null, "service-unavailable"]).toEqual(expect.arrayContaining([...new Set(codes)]))
  })
})

describe.each(databaseKinds)("one account's many calls on %s", (kind) => {
  const service = testService(kind)

  test("another account's calls get responses between them, not after them", async () => {
    const [greedy, good] = [await service.signUp(), await service.signUp()]
    const greedyCalls = 200
    let answered = 0
    const path = "/api/agents/me/keys/2147483647"
    const calls = Array.from({ length: greedyCalls }, async () => {
      const { code } = await service.call("DELETE", path, { key: greedy.key })
      answered++
      return code
    })
    // The first of them are being worked on.
    await expect.poll(() => answered, { interval: 1 }).toBeGreaterThan(0)
    expect((await service.call("GET", "/api/agents/me", { key: good.key })).status).toBe(200)
    expect((await service.call("POST", "/api/agents/me/keys", { key: good.key, body: {} })).status).toBe(201)
    expect(answered).toBeLessThan(greedyCalls)
    const codes = new Set(await Promise.all(calls))
    expect(["key-not-found", "service-unavailable"]).toEqual(expect.arrayContaining([...codes]))
    // Whoever is known to nobody is refused without the database, however busy that is.
    expect(
      (await service.call("GET", "/api/agents/me", { key: `${mintKey("ak", randomBytes, randomBytes(32))}x` })).status,
    ).toBe(401)
  })
})
