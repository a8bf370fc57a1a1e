// `pnpm bench platform`: the platform API against a peer with the same duties, and against only Hono and the PostgreSQL driver.
import { createPlatform } from "@svc/client"
import { createBenchmarkTable, type LoadTarget } from "@svc/testing"
import { compare, compareTelemetry, connections, finish } from "./compare.ts"
import { openGround, residentMb } from "./ground.ts"

const ground = await openGround()
const table = createBenchmarkTable()

// The first one migrates the tables.
await ground.platform()
const service = await ground.platform()
table.add("start on PostgreSQL, migrations done", service.startMs, "ms", { atMost: 1000 })
table.add("resident memory, idle", residentMb(service.child.pid), "MB", { atMost: 150 })
await ground.publishTransfers()

const { signUp } = createPlatform({ apiUrl: service.url })
// One agent per connection, because requests of one key could share a look-up.
const agents = await Promise.all(Array.from({ length: connections }, () => signUp()))
const headers = agents.map(({ api_key: key }) => ({ authorization: `Bearer ${key}` }))
const schemaPath = "/api/registry/transfers/schema"
let response = await fetch(service.url + schemaPath)
while (response.status !== 200) response = await fetch(service.url + schemaPath)
const bare = await ground.peer("platform-api", "bench/bare.ts", {
  DATABASE_URL: ground.databaseUrl,
  SCHEMA: Buffer.from(await response.arrayBuffer()).toString("base64"),
  SLUG: agents[0]?.slug ?? "",
})

const ours = (path: string): LoadTarget => ({ url: service.url + path, pid: service.child.pid, headers })
const peer = (path: string): LoadTarget => ({ url: bare.url + path, pid: bare.pid, headers })
const me = "/api/agents/me"
const same = await ground.peer("platform-api", "../../bench/platform-peer.ts", { DATABASE_URL: ground.databaseUrl })
await compare(table, "GET /api/agents/me, to the peer", { atLeast: 5 }, ours(me), {
  ...same,
  url: same.url + me,
  headers,
})
await compare(table, "GET /api/agents/me, to one prepared query", undefined, ours(me), peer("/query"))
await compare(table, "GET /api/agents/me, to no query", undefined, ours(me), peer("/plain"))
// Most readers have no key.
const anonymous = ({ url, pid }: LoadTarget): LoadTarget => ({ url, pid })
const [schema, sameBytes] = [ours(schemaPath), peer("/schema")].map(anonymous) as [LoadTarget, LoadTarget]
await compare(table, "GET /api/registry/:name/schema, to the same bytes", undefined, schema, sameBytes)
await compareTelemetry(table, ground.platform, ({ url, child }) => ({ url: url + me, pid: child.pid, headers }))

const embedded = await ground.platform({ DATABASE_URL: "", SVC_DATA_DIR: `${ground.folder}/embedded` })
table.add("start on a new embedded database", embedded.startMs, "ms", { atMost: 4000 })
await ground.stop()
finish(table)
