import { expect, test } from "vitest"
import { orm } from "../src/db/database.ts"
import { holders, pruneAgents, pruneAudit, pruneDaily } from "../src/operator/prune.ts"
import { testService } from "./service.ts"
import { newPerson } from "./work/person.ts"

const service = testService("postgres")

const query = <Row>(text: string, ...values: unknown[]) => service.database().query<Row>(text, values)
const dayMs = 24 * 3600 * 1000
const keysOf = "(select id from api_keys where user_id = (select user_id from agent_profiles where slug = $1))"
/** An agent made so many days ago and last used so many days ago. */
const agent = async (made: number, used = made) => {
  const one = await service.signUp()
  const [at, seen] = [made, used].map((days) => new Date(Date.now() - days * dayMs).toISOString())
  await query(
    "update agent_profiles set created_at = $2::timestamptz, last_seen_at = $3::timestamptz where slug = $1",
    one.slug,
    at,
    seen,
  )
  await query(`update api_keys set created_at = $2::timestamptz where id in ${keysOf}`, one.slug, at)
  return one
}
const slugs = async () =>
  (await query<{ slug: string }>("select slug from agent_profiles order by user_id")).map(({ slug }) => slug)

test("agents that are old, unused, active and own nothing are deleted with their keys", async () => {
  const [unused, left] = [await agent(100), await agent(100, 91)]
  await query(
    `insert into api_keys (user_id, key_hash, key_class, prefix, last_four, name, created_at, replaces)
     select user_id, sha256(key_hash), key_class, prefix, last_four, 'second', created_at, id from api_keys where id in ${keysOf}`,
    left.slug,
  )
  const kept = {
    young: await agent(89),
    used: await agent(100, 89),
    withRevokedKey: await agent(100),
    withNewKey: await agent(100),
    disabled: await agent(100),
    sharedWith: await agent(100),
    owner: await agent(100),
  }
  await query(
    `update api_keys set revoked_at = now(), last_used_at = now() where id in ${keysOf}`,
    kept.withRevokedKey.slug,
  )
  await query(`update api_keys set created_at = now() where id in ${keysOf}`, kept.withNewKey.slug)
  await query("update agent_profiles set status = 'disabled' where slug = $1", kept.disabled.slug)
  const person = await newPerson(service)
  await person.newSpec("pruned-around", { visibility: "private", shared_with: [kept.sharedWith.slug] })
  await query(
    `insert into specs (owner_id, name, url_slug, latest_version, created_at, updated_at)
     select user_id, 'own', 'own', 0, now(), now() from agent_profiles where slug = $1`,
    kept.owner.slug,
  )
  const pruning = { unusedDays: 90, at: new Date(), actor: "operator" }
  const all = await slugs()
  expect(await pruneAgents(service.database(), { ...pruning, dryRun: true })).toMatchObject({
    agents: 2,
    dry_run: true,
  })
  expect(await slugs()).toEqual(all)
  expect(await pruneAgents(service.database(), pruning)).toMatchObject({ agents: 2, dry_run: false })
  expect(await slugs()).toEqual(all.filter((slug) => slug !== unused.slug && slug !== left.slug))
  expect(await service.faultOf(unused.key)).toBe("invalid-api-key")
  expect((await service.call("GET", "/api/agents/me", { key: kept.used.key })).status).toBe(200)
  const rows = await query("select actor, target from audit_log where action = $1", "agent.prune")
  expect(rows).toEqual([{ actor: "operator", target: expect.stringMatching(/^agents:2 unused-since:/) }])
  expect(await pruneAgents(service.database(), pruning)).toMatchObject({ agents: 0 })
})

test("every column that refers to an account keeps its agent, or its row is deleted with it", async () => {
  const columns = await query<{ name: string }>(
    `select conrelid::regclass || '.' || attname as name from pg_constraint
     join pg_attribute on attrelid = conrelid and attnum = conkey[1]
     where contype = 'f' and confrelid = 'users'::regclass`,
  )
  const kept = holders.map(({ table, name }) => `${orm.getTableName(table)}.${name}`)
  const known = new Set([...kept, "agent_profiles.user_id", "api_keys.user_id", "idempotency_keys.user_id"])
  expect(columns.length).toBeGreaterThan(8)
  expect(columns.filter(({ name }) => !known.has(name))).toEqual([])
})

test("it runs once a day, at whichever replica is first", async () => {
  const prune = (afterMs: number) =>
    pruneDaily(service.database(), { unusedDays: 90, at: new Date(Date.now() + afterMs) })
  const [first, second] = [await agent(100), await agent(100)]
  await prune(0)
  expect(await slugs()).not.toContain(first.slug)
  const third = await agent(100)
  await Promise.all([prune(0), prune(dayMs / 2)])
  expect(await slugs()).toContain(third.slug)
  await prune(dayMs)
  expect(await slugs()).not.toContain(third.slug)
  expect(await slugs()).not.toContain(second.slug)
})

test("only the tables' owner can delete old rows of the audit trail, and only in this way", async () => {
  await service.signUp()
  await expect(query("delete from audit_log")).rejects.toThrow("only ever added")
  const count = async () => (await query<{ n: number }>("select count(*)::int as n from audit_log"))[0]?.n
  const before = await count()
  expect(await pruneAudit(service.database(), 1, new Date())).toMatchObject({ rows: 0 })
  const later = new Date(Date.now() + 2 * dayMs)
  expect(await pruneAudit(service.database(), 1, later)).toMatchObject({ rows: before })
  expect(await query("select action from audit_log")).toEqual([{ action: "audit.prune" }])
  // The trail says so even if the command ends in the middle.
  await query(`insert into audit_log (at, actor, action, target, outcome)
    select '2020-01-01', 'operator', 'key.mint', 'key:1', 'ok' from generate_series(1, 2001)`)
  const { transaction, ...others } = service.database()
  let isFirst = true
  const once: typeof transaction = (work) => {
    if (!isFirst) return Promise.reject(new Error("the database is away"))
    isFirst = false
    return transaction(work)
  }
  await expect(pruneAudit({ ...others, transaction: once }, 1, new Date())).rejects.toThrow("away")
  const target = expect.stringMatching(/^rows:2000 /)
  expect(await query("select target from audit_log order by id desc limit 1")).toEqual([{ target }])
})

test("sharing with an agent during its deletion either keeps it or fails", async () => {
  const person = await newPerson(service)
  const agents = await Promise.all(Array.from({ length: 12 }, () => agent(100)))
  const specs = await Promise.all(agents.map((_, n) => person.newSpec(`shared-with-${n}`, { visibility: "private" })))
  const [, ...shares] = await Promise.all([
    pruneAgents(service.database(), { unusedDays: 90, at: new Date(), actor: "operator" }),
    ...agents.map(({ slug }, n) => person.call("PUT", `/api/specs/${specs[n]?.id}`, { shared_with: [slug] })),
  ])
  const left = await slugs()
  expect(shares.map(({ status }) => status)).toEqual(agents.map(({ slug }) => (left.includes(slug) ? 200 : 400)))
})
