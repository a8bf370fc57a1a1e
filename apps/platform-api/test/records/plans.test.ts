import { randomBytes } from "node:crypto"
import { createTestDatabase } from "@svc/testing"
import { beforeAll, describe, expect, test } from "vitest"
import { loadDatabase, loadHistory } from "../large-database.ts"
import { forgetSignups, insertKey, readKeySecret } from "../../src/auth/accounts.ts"
import { loadServerDriver, orm } from "../../src/db/database.ts"
import { migrate } from "../../src/db/migrate.ts"
import { buildStatements } from "../../src/routes/builds/builds.ts"
import { deploymentStatements } from "../../src/routes/deployments/deployments.ts"
import { runStatements } from "../../src/routes/runs/runs.ts"
import { forgetAnswers } from "../../src/routes/change.ts"
import { specStatements } from "../../src/routes/specs/specs.ts"
import { beforeTests, besides, startTestService } from "../service.ts"
import { smallAst } from "../registry/small-ast.ts"
import { withSql } from "../with-sql.ts"
import { newPerson } from "../work/person.ts"

const owner = 1

// A database where going through a whole table costs something: one account with most of the records, many with one.
describe("PostgreSQL's query plans", () => {
  const server = beforeTests(createTestDatabase, ({ stop }) => stop())
  beforeAll(async () => {
    await besides(server.url, (database) => migrate(database.within(60_000)))
    await loadDatabase(server.url, { agents: 20_000, keysPerAgent: 3, builds: 20_000, shared: 3000 })
  })

  const db = loadServerDriver().drizzle.mock()
  const first = { account: owner, limit: 51, offset: 0 }
  const statements = [
    ["specs", specStatements.list(db), first],
    ["one spec", specStatements.one(db), { account: owner, id: 1 }],
    ["a spec's schema", specStatements.schema(db), { account: owner, id: 1 }],
    ["a spec's versions", specStatements.versions(db), { ...first, id: 1 }],
    ["builds", buildStatements.list(db), first],
    ["builds far down", buildStatements.list(db), { ...first, offset: 19_000 }],
    ["builds of an account with one", buildStatements.list(db), { ...first, account: 77 }],
    ["one build", buildStatements.one(db), { account: owner, id: 9 }],
    ["deployments", deploymentStatements.list(db), first],
    ["one deployment", deploymentStatements.one(db), { account: owner, id: 9 }],
    ["a deployment's events", deploymentStatements.events(db), { ...first, id: 9 }],
    ["runs", runStatements.list(db), first],
    ["one run", runStatements.one(db), { account: owner, id: 9 }],
  ] as const

  test.each(statements)("%s use indexes, and read no more than the page", async (_, statement, given) => {
    const query = statement.getQuery()
    const values = orm.fillPlaceholders(query.params, given).map((value) => `'${String(value)}'`)
    await withSql(server.url, async (sql) => {
      await sql.unsafe(`prepare it as ${query.sql}`)
      for (const mode of ["force_custom_plan", "force_generic_plan"]) {
        await sql.unsafe(`set plan_cache_mode = ${mode}`)
        const rows = await sql.unsafe(`explain (analyze, costs off, timing off) execute it (${values.join(", ")})`)
        const plan = rows.map((row) => String(row["QUERY PLAN"]))
        expect(plan.filter((line) => line.includes("Seq Scan"))).toEqual([])
        // What a step hands on or throws away: a page, the rows of its block of ids before it, the block counts.
        const counts = plan.flatMap((line) => /(?:rows=|Removed by \w+(?: \w+)?: )(\d+)/.exec(line)?.[1] ?? [])
        expect(Math.max(...counts.map(Number))).toBeLessThanOrEqual(51 + 1024)
      }
    })
  })

  test("of endless old sign-ups and responses, a part is deleted at a time", async () => {
    const left = await besides(server.url, async (database) => {
      const queries = database.within(60_000)
      const from = "from generate_series(1, 10001) n"
      const values = "$1::integer, 'POST', '/', n, '', 200, '', now() - interval '2 days'"
      await queries.query(`insert into signups (address, at) select $1, now() - interval '2 days' ${from}`, ["a"])
      await queries.query(
        `insert into idempotency_keys (user_id, method, path, key, body_hash, status, body, created_at) select ${values} ${from}`,
        [owner],
      )
      await forgetSignups(queries)
      await forgetAnswers({ database, wallClock: Date.now })
      const counts = "select (select count(*) from signups) + (select count(*) from idempotency_keys) as left where $1"
      return queries.query(counts, [true])
    })
    expect(left).toEqual([{ left: "2" }])
  })

  test("no request about an agent's own account scans a whole table", async () => {
    const scanned =
      "select relname, seq_scan from pg_stat_user_tables where n_live_tup > 1000 and relname <> 'stacks' order by 1"
    const scans = () => withSql(server.url, async (sql) => [...(await sql.unsafe(scanned))])
    const service = await startTestService("postgres", { DATABASE_URL: server.url })
    const material = { randomBytes, keySecret: await service.database().run(readKeySecret) }
    const { text: key, id: keyId } = await service
      .database()
      .transaction((tx) => insertKey(tx, { kind: "ak", userId: owner, name: "k", createdAt: new Date() }, material))
    const before = await scans()
    const paths = ["/api/agents/me", "/api/agents/me/keys", "/api/usage", "/api/registry"]
    // Often enough for every connection to have left the first plans behind.
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 10 }, () => paths.map((path) => service.call("GET", path, { key }))).flat(),
      )
    }
    // All of these keys are looked up together: many enough to make going through the tables look cheap.
    const keys = await service.database().transaction(async (tx) => {
      const made: { readonly text: string }[] = []
      for (let user = 2; user < 302; user++) {
        made.push(await insertKey(tx, { kind: "ak", userId: user, name: "k", createdAt: new Date() }, material))
      }
      return made
    })
    for (let round = 0; round < 3; round++)
      await Promise.all(keys.map(({ text }) => service.call("GET", "/api/agents/me", { key: text })))
    await service.signUp()
    const { body } = await service.call("POST", "/api/agents/me/keys", { key })
    expect((await service.call("DELETE", `/api/agents/me/keys/${body.id}`, { key })).status).toBe(200)
    expect((await service.call("DELETE", `/api/agents/me/keys/${keyId}`, { key })).status).toBe(200)
    // The server's processes tell their counts when they end.
    await service.close()
    expect(await scans()).toEqual(before)
  })

  test("what is revoked, expired, ended or deleted costs its account's requests nothing", async () => {
    const count = 20_000
    const env = { DATABASE_URL: server.url, SVC_WORKER: "false" }
    const starting = await startTestService("postgres", env)
    const { key } = await newPerson(starting)
    await starting.close()
    const [person] = await withSql(server.url, (sql) => sql.unsafe("select max(id)::integer as id from users"))
    const { specId, deployment } = await loadHistory(server.url, Number(person?.["id"]), count)
    const read = `
      select relname, seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as rows
      from pg_stat_user_tables t order by 1`
    const rows = () => withSql(server.url, async (sql) => [...(await sql.unsafe(read))])
    const before = await rows()
    const service = await startTestService("postgres", env)
    const call = async (status: number, method: string, path: string, body?: object) => {
      const answer = await service.call(method, path, { key, body })
      expect([method, path, answer.status, answer.code]).toEqual([method, path, status, answer.code])
      return answer.body
    }
    const { id } = await call(201, "POST", "/api/auth/keys", {})
    const { id: next } = await call(201, "POST", `/api/auth/keys/${id}/rotate`, {})
    await call(200, "DELETE", `/api/auth/keys/${next}`)
    for (const path of ["/api/auth/keys", "/api/usage", "/api/specs", "/api/builds", "/api/deployments"])
      await call(200, "GET", path)
    await call(201, "POST", "/api/specs", { name: "other" })
    await call(200, "POST", "/api/registry/past/check", { ast_payload: smallAst() })
    await call(200, "PUT", `/api/specs/${specId}`, { visibility: "global", shared_with: [] })
    const { build_id } = await call(202, "POST", `/api/deployments/${deployment}/rollback`, {})
    await call(202, "POST", `/api/builds/${build_id}/cancel`, {})
    await call(202, "POST", `/api/deployments/${deployment}/stop`, {})
    await call(409, "DELETE", `/api/specs/${specId}`)
    await service.close()
    const after = await rows()
    const costly = after.filter(({ rows: now }, n) => Number(now) - Number(before[n]?.["rows"]) >= count / 2)
    expect(costly.map((table) => table["relname"])).toEqual([])
  })
})
