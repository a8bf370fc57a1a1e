// Prunes a million agents beside a service in use: node apps/platform-api/bench/prune.ts [agents]
import { setTimeout as delay } from "node:timers/promises"
import { startPostgres } from "@svc/testing"
import postgres from "postgres"
import { operate, startReplica } from "../test/program.ts"
import { temporaryFolder } from "../test/service.ts"

const agents = Number(process.argv[2] ?? 1_000_000)
const used = agents / 100
const perSecond = 40
const usualMs = 30_000

const server = await startPostgres()
const { folder, remove } = temporaryFolder()
const env = {
  DATABASE_URL: server.url,
  SVC_DATA_DIR: folder,
  SVC_SIGNUPS_PER_HOUR: "1000000",
  SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
}
const replica = await startReplica(env)
const sql = postgres(server.url, { max: 1 })
const tables = ["users", "agent_profiles", "api_keys"]
const sizes = async () =>
  (
    await sql.unsafe(
      `select sum(pg_total_relation_size(t::regclass))::float8 / 1e6 as mb from unnest(array['users','agent_profiles','api_keys']) t`,
    )
  )[0]?.["mb"]

await sql.unsafe("set session_replication_role = replica; set synchronous_commit = off")
await sql.unsafe(
  `insert into users (kind, created_at) select 'agent', now() - interval '200 days' from generate_series(1, ${agents})`,
)
await sql.unsafe(`
  insert into agent_profiles (user_id, slug, display_name, created_at, last_seen_at)
  select id, 'agt_' || lpad(to_hex(id), 10, '0'), 'Agent ' || id, created_at,
    case when id % 100 = 0 then now() else created_at + random() * interval '60 days' end from users`)
await sql.unsafe(`
  insert into api_keys (user_id, key_hash, key_class, prefix, last_four, name, created_at, last_used_at)
  select user_id, sha256(convert_to('key ' || user_id, 'UTF8')), 'secret', 'svc_ak_', 'abcd', 'signup', created_at, last_seen_at
  from agent_profiles`)
await sql.unsafe("set session_replication_role = origin")
await sql.unsafe("vacuum analyze")
console.log(`${agents} agents: ${Number(await sizes()).toFixed(0)} MB in ${tables.join(", ")} with their indexes`)

const keys: string[] = []
for (let n = 0; n < 20; n++) {
  const answer = (await (await replica.signUp({ "x-forwarded-for": `198.51.100.${n}` })).json()) as { api_key: string }
  keys.push(answer.api_key)
}
let bad = 0
/** Reads profiles and signs agents up at a steady rate until told to stop; gives how long each waited. */
const load = async (until: Promise<unknown>): Promise<Record<"read" | "sign-up", number[]>> => {
  const over = new AbortController()
  void until.finally(() => over.abort())
  const waits = { read: [] as number[], "sign-up": [] as number[] }
  const ask = async (kind: keyof typeof waits, n: number): Promise<void> => {
    const began = performance.now()
    const response = await (kind === "read"
      ? replica.me(keys[n % keys.length] ?? "")
      : replica.signUp({ "x-forwarded-for": `203.0.${n % 250}.1` }))
    await response.arrayBuffer()
    waits[kind].push(performance.now() - began)
    if (!response.ok) bad++
  }
  const asked: Promise<void>[] = []
  for (let n = 0; !over.signal.aborted; n++) {
    asked.push(ask(n % 4 === 0 ? "sign-up" : "read", n))
    await delay(1000 / perSecond)
  }
  await Promise.all(asked)
  return waits
}
const shown = (waits: number[]) => {
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.toFixed(0)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} ms (${sorted.length})`
}
await load(delay(5000))
const usual = await load(delay(usualMs))
const began = performance.now()
const pruning = operate(["agent", "prune", "--unused-days", "90"], env)
const meanwhile = await load(pruning)
console.log(JSON.stringify((await pruning).json), `in ${((performance.now() - began) / 1000).toFixed(0)} s`)
for (const kind of ["read", "sign-up"] as const) {
  console.log(`${kind}: usually ${shown(usual[kind])}; meanwhile ${shown(meanwhile[kind])}`)
}
const [left] = await sql.unsafe("select count(*)::int as n from agent_profiles")
const [whole] = await sql.unsafe(
  "select count(*)::int as n from users u join agent_profiles p on p.user_id = u.id join api_keys k on k.user_id = u.id",
)
console.log(
  `${left?.["n"]} agents left of ${used} used ones and those that signed up meanwhile, ${whole?.["n"]} with account and key; ${bad} requests failed`,
)
await sql.end()
replica.program.kill("SIGTERM")
await replica.program.exited
await server.stop()
remove()
