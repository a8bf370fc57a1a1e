import { redisProgram, startRedis } from "@svc/testing"
import { describe, expect, onTestFinished, test } from "vitest"
import { setAgentStatus } from "../../src/operator/accounts.ts"
import {
  beforeTests,
  publishStack,
  serviceInTest,
  startTestService,
  type TestService,
  testService,
} from "../service.ts"
import { first, grown, newPerson } from "../work/person.ts"
import { changesAfter, followChanges } from "./following.ts"

const release = (service: TestService, name: string, ast: unknown) =>
  publishStack(service, name, ast, { allowBreaking: true })

describe("streams of changes on two replicas", () => {
  const free = { SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" }
  const one = testService("postgres", free)
  const two = testService("postgres", () => ({ DATABASE_URL: one.databaseUrl, ...free }))
  const owner = beforeTests(() => newPerson(one))

  test("a change at one replica reaches streams at the other as the list shows it, only for those who may see it", async () => {
    const streams = await Promise.all([
      followChanges(two.url),
      followChanges(two.url, { query: "?stack=live-b" }),
      followChanges(two.url, { key: owner.key }),
    ])
    expect(streams.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual(
      streams.map(() => [200, "text/event-stream"]),
    )
    // A proxy that compresses would keep the events back.
    for (const { headers } of streams) expect(headers.get("cache-control")).toContain("no-transform")
    await release(one, "live-a", first)
    const spec = await owner.newSpec("mine-alone", { visibility: "private" })
    await owner.publish(spec.id, first)
    const [all, ofStack, mine] = streams
    expect((await mine?.until(2))?.map(({ stack }) => stack)).toEqual(["live-a", "mine-alone"])
    await release(one, "live-b", first)
    const listed = await changesAfter(one, 0)
    expect(await all?.until(2)).toEqual(listed.slice(-2))
    expect(await ofStack?.until(1)).toEqual(listed.slice(-1))
    for (const stream of streams) stream.close()
  })

  test("a stream continues after Last-Event-ID, else after `after`; without either it starts with the next change", async () => {
    for (const ast of [first, grown, first]) await release(one, "resumed", ast)
    const ids = (await changesAfter(one, 0, { stack: "resumed" })).map(({ id }) => id)
    const query = `?stack=resumed&after=${ids[0]}`
    const later = await followChanges(two.url, { query, headers: { "last-event-id": String(ids[1]) } })
    const after = await followChanges(two.url, { query })
    const next = await followChanges(two.url, { query: "?stack=resumed" })
    await release(one, "resumed", grown)
    const last = (await changesAfter(one, 0, { stack: "resumed" })).at(-1)?.id
    expect((await later.until(2)).map(({ id }) => id)).toEqual([ids[2], last])
    expect((await after.until(3)).map(({ id }) => id)).toEqual([ids[1], ids[2], last])
    await expect.poll(() => next.told.at(-1)?.id).toBe(last)
    expect(next.told.map(({ id }) => id)).not.toContain(ids[1])
    for (const stream of [later, after, next]) stream.close()
  })

  test("a stream after an id that was never issued says so, and continues with the next change", async () => {
    const ids = ["999999", "9".repeat(15), "x"]
    const resumed = ids.map((id) => followChanges(two.url, { headers: { "last-event-id": id } }))
    const streams = await Promise.all([...resumed, followChanges(two.url, { query: "?after=999999" })])
    await release(one, "after-a-restore", first)
    for (const stream of streams) {
      // A replica may still have to read what came before.
      await expect.poll(() => stream.told.at(-1)?.stack).toBe("after-a-restore")
      expect(stream.lost()).toBe(1)
      stream.close()
    }
  })

  test("an address has four streams at a time; the fifth is rejected with Retry-After", async () => {
    const from = { headers: { "x-forwarded-for": "198.51.100.9" } }
    const streams = await Promise.all(Array.from({ length: 4 }, () => followChanges(one.url, from)))
    const call = () =>
      one.call("GET", "/api/registry/changes", { from: "198.51.100.9", headers: { accept: "text/event-stream" } })
    const refused = await call()
    expect([refused.status, refused.code]).toEqual([429, "rate-limit-exceeded"])
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    const head = await fetch(`${one.url}/api/registry/changes`, {
      method: "HEAD",
      headers: { accept: "text/event-stream", ...from.headers },
    })
    expect(head.status).toBe(200)
    streams[0]?.close()
    await expect.poll(async () => (await followChanges(one.url, from)).status).toBe(200)
    for (const stream of streams) stream.close()
  })

  test("streams with a page's key take no places of the account", async () => {
    const { key: secret } = await one.signUp()
    const key = await one.publishable(secret, ["https://app.example"])
    const visitor = (n: number) => ({ origin: "https://app.example", "x-forwarded-for": `198.51.101.${n >> 2}` })
    const streams = await Promise.all(
      Array.from({ length: 17 }, (_, n) => followChanges(one.url, { key, headers: visitor(n) })),
    )
    const own = await followChanges(one.url, { key: secret, headers: { "x-forwarded-for": "198.51.102.1" } })
    expect([...streams, own].map(({ status }) => status)).toEqual(Array<number>(18).fill(200))
    for (const stream of [...streams, own]) stream.close()
  })

  test("a revoked or disabled key ends only its own streams", async () => {
    const { key, slug } = await one.signUp()
    const [lost, disabled, kept] = await Promise.all([
      followChanges(two.url, { key: owner.key, headers: { "x-forwarded-for": "198.51.100.10" } }),
      followChanges(two.url, { key, headers: { "x-forwarded-for": "198.51.100.11" } }),
      followChanges(two.url, { headers: { "x-forwarded-for": "198.51.100.12" } }),
    ])
    const { body: keys } = await owner.call("GET", "/api/auth/keys")
    expect((await owner.call("DELETE", `/api/auth/keys/${keys[0].id}`)).status).toBe(200)
    expect(await lost?.ended).toBe("ended")
    await setAgentStatus(one.database(), slug, "disabled", new Date())
    expect(await disabled?.ended).toBe("ended")
    await release(one, "still-told", grown)
    expect((await kept?.until(1))?.[0]?.stack).toBe("still-told")
    kept?.close()
  })

  test("a replica that stops ends its streams; other replicas' continue", async () => {
    const third = await startTestService("postgres", { DATABASE_URL: one.databaseUrl })
    const stream = await followChanges(third.url)
    await third.close()
    expect(await stream.ended).toBe("ended")
  })
})

test("what a stream catches up on counts as the pages that requests would read; it ends when no more may be read", async () => {
  const service = await serviceInTest("postgres")
  await release(service, "busy", first)
  const database = service.database()
  await database.query(
    `insert into registry_changes
     select s.revision + n, at, stack, line, kind, version, previous_version, verdict, bump, message, successor, visibility, viewers,
       except_visibility, except_viewers
     from registry_changes c, registry_state s, generate_series(1, 450) n where c.id = s.revision`,
    [],
  )
  await database.query("update registry_state set revision = revision + 450", [])
  const limited = { DATABASE_URL: service.databaseUrl, SVC_REGISTRY_REQUESTS_PER_MINUTE: "3" }
  const { url } = await serviceInTest("postgres", limited)
  const from = { "x-forwarded-for": "198.51.100.20" }
  const stream = await followChanges(url, { query: "?after=0", headers: from })
  expect(await stream.ended).toBe("ended")
  expect(stream.told).toHaveLength(300)
  const last = { ...from, "last-event-id": String(stream.told.at(-1)?.id) }
  expect((await followChanges(url, { headers: last })).status).toBe(429)
  const other = await followChanges(url, { headers: { ...last, "x-forwarded-for": "198.51.100.21" } })
  expect((await other.until(151)).map(({ id }) => id)).toEqual(
    Array.from({ length: 151 }, (_, n) => Number(stream.told.at(-1)?.id) + n + 1),
  )
  other.close()
})

describe.skipIf(redisProgram() === undefined && process.env["CI"] === undefined)("with a store", () => {
  test("streams of changes and of runs count over all replicas, and an account may have sixteen", async () => {
    const redis = await startRedis()
    onTestFinished(redis.stop)
    // The machine may be busy.
    const env = { SVC_LIMITS_URL: redis.url, SVC_LIMITS_TIMEOUT_MS: "2000", SVC_EVENT_STREAMS_PER_OWNER: "2" }
    const one = await serviceInTest("postgres", env)
    const two = await serviceInTest("postgres", { DATABASE_URL: one.databaseUrl, ...env })
    const person = await newPerson(one)
    const spec = await person.newSpec("counted")
    const run = await person.publish(spec.id, first, { approval: true })
    await person.until(`/api/automation/runs/${run.id}`, "waiting")
    const closing = new AbortController()
    const runStream = ({ url }: TestService) =>
      fetch(`${url}/api/automation/runs/${run.id}/events`, {
        headers: { authorization: `Bearer ${person.key}` },
        signal: closing.signal,
      })
    const ofRun = [await runStream(one), await runStream(two), await runStream(one)]
    expect(ofRun.map(({ status }) => status)).toEqual([200, 200, 409])

    const statuses = async (count: number, options: (n: number) => { key?: string; from: string }) => {
      const streams = []
      for (let n = 0; n < count; n++) {
        const { key, from } = options(n)
        const { url } = n % 2 === 0 ? one : two
        streams.push(await followChanges(url, { ...(key && { key }), headers: { "x-forwarded-for": from } }))
      }
      return { streams, refused: streams.flatMap(({ status }, n) => (status === 429 ? [n] : [])) }
    }
    const anonymous = await statuses(6, () => ({ from: "203.0.113.1" }))
    expect(anonymous.refused).toEqual([4, 5])
    const keyed = await statuses(18, (n) => ({ key: person.key, from: `203.0.113.${20 + n}` }))
    expect(keyed.refused).toEqual([16, 17])
    closing.abort()
    for (const { close } of [...anonymous.streams, ...keyed.streams]) close()
  })
})
