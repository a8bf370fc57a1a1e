// What keys do is counted without a query for each request, and adds up over replicas, restarts and deletions.
import { expect, test } from "vitest"
import { createUsageCounter, forgetUsage, readUsage, usageKeys } from "../src/auth/usage.ts"
import { testService } from "./service.ts"

const service = testService("postgres")

const counter = () =>
  createUsageCounter({ within: () => service.database() } as never, () => Date.now() + service.clock.offsetMs)
const today = () => new Date(Date.now() + service.clock.offsetMs).toISOString().slice(0, 10)

test("requests, rejections and sessions count once per key, and only the account sees them", async () => {
  const agent = await service.signUp()
  const other = await service.signUp()
  const { id } = agent
  const [one, two] = [counter(), counter()]
  for (let time = 0; time < 3; time++) one.count(id, 200, false)
  one.count(id, 403, false)
  two.count(id, 429, true)
  two.count(id, 200, true)
  // Two replicas add up.
  await Promise.all([one.flush(), two.flush()])
  await one.flush()
  const { status, body } = await service.call("GET", "/api/usage?days=1", { key: agent.key })
  expect(status).toBe(200)
  expect(body).toMatchObject({ from: today(), to: today() })
  const [day] = body.days
  expect(day.date).toBe(today())
  expect(day.keys).toMatchObject([{ id, name: "signup", refused: 2, sessions: 1 }])
  expect(day.keys[0].requests).toBeGreaterThanOrEqual(6)
  expect((await service.call("GET", "/api/usage", { key: other.key })).body.days).toEqual([])
})

test("days split at midnight; revoked keys stay listed, deleted ones and old days are dropped", async () => {
  const agent = await service.signUp()
  const { id }: { id: number } = await service.mint(agent.key, { name: "old" })
  let time = Date.parse("2026-11-20T23:59:59.999Z")
  const usage = createUsageCounter({ within: () => service.database() } as never, () => time)
  usage.count(id, 200, false)
  time += 1
  usage.count(id, 200, false)
  usage.count(999_999, 200, false)
  await usage.flush()
  await service.call("DELETE", `/api/agents/me/keys/${id}`, { key: agent.key })
  const [{ id: userId }] = (await service
    .database()
    .query<{ id: number }>("select user_id as id from api_keys where id = $1", [id])) as [{ id: number }]
  const read = () => readUsage(service.database(), userId, "2026-11-01")
  const key = { id, name: "old", requests: 1, refused: 0, sessions: 0 }
  expect(await read()).toEqual([
    { date: "2026-11-20", keys: [key] },
    { date: "2026-11-21", keys: [key] },
  ])
  await forgetUsage(service.database(), 1, new Date("2026-11-22T00:00:00Z"))
  expect(await read()).toEqual([{ date: "2026-11-21", keys: [key] }])
})

test("of an account's endless keys, those that aren't revoked and those revoked last are told", async () => {
  const agent = await service.signUp()
  await service.database().query(
    `with made as (
      insert into api_keys (user_id, key_hash, key_class, prefix, last_four, name, created_at, revoked_at)
      select user_id, sha256(n::text::bytea), 'secret', 'svc_ak_', 'aaaa', 'n' || n, created_at, created_at + n * interval '1 ms'
      from api_keys, generate_series(1, $2::integer) n where id = $1 returning id
    ) insert into key_usage select id, $3::date, 1, 0, 0 from made union all select $1, $3::date, 1, 0, 0`,
    [agent.id, usageKeys + 1, today()],
  )
  const { days } = (await service.call("GET", "/api/usage?days=1", { key: agent.key })).body
  const names = (days[0].keys as { name: string }[]).map(({ name }) => name)
  expect([names.length, names[0], names[1], names.at(-1)]).toEqual([usageKeys, "signup", "n3", `n${usageKeys + 1}`])
})

test("a failed write is repeated later", async () => {
  const agent = await service.signUp()
  let isAway = true
  const database = {
    within: () => ({
      query: (...given: [string, unknown[]]) =>
        isAway ? Promise.reject(new Error("away")) : service.database().query(...given),
    }),
  }
  const usage = createUsageCounter(database as never, Date.now)
  usage.count(agent.id, 200, false)
  await expect(usage.flush()).rejects.toThrow("away")
  usage.count(agent.id, 200, false)
  isAway = false
  await usage.flush()
  const [day] = (await service.call("GET", "/api/usage?days=2", { key: agent.key })).body.days
  expect(day.keys[0].requests).toBeGreaterThanOrEqual(2)
})
