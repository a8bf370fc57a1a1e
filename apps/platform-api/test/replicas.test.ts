// @module-tag long
import { createTestDatabase, type TestDatabase } from "@svc/testing"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { migrate } from "../src/db/migrate.ts"
import { openServerDatabase } from "../src/db/server/server.ts"
import { sampleStacks } from "../stacks/index.ts"
import { operate, startReplica, type Replica } from "./program.ts"
import { besides } from "./service.ts"
import { withSql } from "./with-sql.ts"

// Whole processes are started here, on a machine that may be busy.

let server: TestDatabase
let env: Record<string, string>
let replicas: [Replica, Replica]
const folder = folderOfFile()

beforeAll(async () => {
  server = await createTestDatabase()
  env = { DATABASE_URL: server.url, SVC_DATA_DIR: folder, SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1" }
  // At once, on an empty database.
  replicas = await Promise.all([startReplica(env), startReplica(env)])
})
afterAll(async () => {
  for (const { program } of replicas) program.kill("SIGTERM")
  await Promise.all(replicas.map(({ program }) => program.exited))
  await server.stop()
})

const signUp = async (replica: Replica): Promise<{ slug: string; api_key: string }> => {
  const from = { "x-forwarded-for": `198.51.100.${Math.floor(performance.now()) % 250}` }
  return (await replica.signUp(from)).json() as Promise<{ slug: string; api_key: string }>
}
const file = fileURLToPath(sampleStacks[0]?.file ?? "")

const patience = { timeout: 20_000, interval: 50 }
const statuses = async () =>
  (await Promise.all(replicas.map(({ url }) => fetch(`${url}/api/registry/late`)))).map(({ status }) => status)

test("an operator's change reaches every replica, even if its notice was lost", async () => {
  const endListeners = `select pg_terminate_backend(pid) from pg_stat_activity
    where query like 'listen %' and datname = current_database() and $1::int = 1`
  await besides(server.url, (database) => database.within(60_000).query(endListeners, [1]))
  await operate(["stack", "publish", file, "--name", "late", "--websocket-url", "wss://streams.example/late"], env)
  await expect.poll(() => statuses(), patience).toEqual([200, 200])
  await operate(["stack", "unpublish", "late"], env)
  await expect.poll(() => statuses(), patience).toEqual([404, 404])
})

test("a replica that starts during another's migration waits for it, beyond its statement timeout", async () => {
  const now = () => performance.now()
  const database = openServerDatabase({ url: server.url, statementMs: 50, connections: 1, now })
  onTestFinished(database.close)
  const { migrated } = await withSql(server.url, async (sql) => {
    await sql.unsafe("begin; select pg_advisory_xact_lock(7264911301)")
    const begun = { migrated: migrate(database.within(60_000)) }
    await sql.unsafe("select pg_sleep(0.2)")
    await sql.unsafe("commit")
    return begun
  })
  expect(await migrated).toBe(0)
})

test("a start with a clock that is an hour off warns of it", async () => {
  const late = "--import=data:text/javascript,const{now}=Date;Date.now=()=>now()-36e5"
  const { program } = await startReplica({ ...env, NODE_OPTIONS: late })
  expect(program.stdout()).toMatch(/"warn".*"next":"Synchronise.*the clock differs by 3[56]\d\d/)
  program.kill("SIGTERM")
  expect(await program.exited).toBe(0)
})

test("no key is in a log line or in the database's bytes, whatever its history", async () => {
  const keys: string[] = []
  for (const replica of replicas) {
    const { api_key } = await signUp(replica)
    keys.push(api_key)
    const headers = { authorization: `Bearer ${api_key}` }
    await fetch(`${replica.url}/api/agents/me?key=${api_key}`, { headers })
    await fetch(`${replica.url}/api/agents/${api_key}`, { headers })
    await fetch(`${replica.url}/api/agents/me/keys/${api_key}`, { method: "DELETE", headers })
    await fetch(`${replica.url}/api/agents/me/keys`, { method: "POST", headers, body: api_key })
    await fetch(`${replica.url}/api/agents/me`, { headers: { authorization: api_key } })
    await fetch(`${replica.url}/api/agents/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"display_name": "x", ${api_key}`,
    })
  }
  const created = await operate(["user", "create", "--email", "k@example.org"], env)
  keys.push(created.json.api_key)
  const tables = ["users", "agent_profiles", "api_keys", "signups", "audit_log", "stacks"]
  const dumps = await besides(server.url, (database) =>
    Promise.all(
      tables.map((table) =>
        database.within(10_000).query(`select t::text as row from ${table} t where $1::int = 1`, [1]),
      ),
    ),
  )
  const stored = JSON.stringify(dumps)
  expect(stored).toContain(keys[0]?.slice(-4))
  for (const replica of replicas) await replica.program.waitFor(/"route":"\/api\/agents\/signup","status":400/)
  const written = replicas.map(({ program }) => program.stdout() + program.stderr()).join("")
  for (const key of keys) {
    const secret = key.slice(7, 39)
    expect(stored.includes(secret)).toBe(false)
    expect(stored.includes(Buffer.from(secret).toString("hex"))).toBe(false)
    expect(written.includes(secret)).toBe(false)
  }
})

test("the log line of a rejected request has the account and network by which agent find finds the agent", async () => {
  const [replica] = replicas
  const from = { "x-forwarded-for": "2001:db8:5:6::7" }
  const { slug, api_key } = (await (await replica.signUp(from)).json()) as { slug: string; api_key: string }
  const headers = { ...from, authorization: `Bearer ${api_key}`, "x-request-id": "the-refused-one" }
  await fetch(`${replica.url}/api/auth/keys`, { headers })
  const [line] = await replica.program.waitFor(/^.*"the-refused-one".*"status":403.*$/m)
  const { account, network } = JSON.parse(line) as { account: string; network: string }
  for (const clue of [account, network])
    expect((await operate(["agent", "find", clue], env)).json).toMatchObject([{ slug, address_prefix: network }])
})

test("the log has the account of each request above a key's limit, and find leads to the keys", async () => {
  const [{ program, url }] = replicas
  const { slug, api_key } = await signUp(replicas[0])
  const { json: person } = await operate(["user", "create", "--email", "ada@example.com"], env)
  for (const [key, account] of [
    [api_key, `agent:${slug}`],
    [person.api_key, `user:${person.id}`],
  ]) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const mint = () => fetch(`${url}/ws/sessions`, { method: "POST", headers, body: "{}" })
    const answers = await Promise.all(Array.from({ length: 63 }, async () => (await mint()).status))
    expect(answers.filter((status) => status === 429)).toHaveLength(3)
    expect((await mint()).status).toBe(429)
    const named = () =>
      program
        .stdout()
        .split("\n")
        .filter((line) => line.includes('"status":429') && line.includes(`"account":"${account}"`))
    await expect.poll(named).toHaveLength(4)
    const [found] = (await operate(["agent", "find", account], env)).json
    expect(found.keys).toMatchObject([{ id: expect.any(Number), disabled_at: null }])
  }
})
