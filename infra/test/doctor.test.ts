// `doctor` of the three services against real servers: first without a fault, then with one fault at a time.
import { spawnSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { generateSigningKey, publicJwks, readSigningKeys } from "@svc/session-token"
import { createTestDatabase, freePort, startPostgres, startProcess, startReceiver, startRedis } from "@svc/testing"
import { beforeAll, expect, onTestFinished, test } from "vitest"
import { docsChecks } from "../../apps/docs-server/src/doctor.ts"
import { platformChecks } from "../../apps/platform-api/src/operator/doctor.ts"
import { relayChecks } from "../../apps/relay/src/doctor.ts"
import { processRuntime } from "../../packages/program/src/index.ts"
import { createStoreKeys } from "../../packages/limits/src/store-keys.ts"
import { runDoctor } from "../../packages/program/src/doctor.ts"
import { checkPublicUrl } from "../../packages/program/src/public-url.ts"
import { checkClock } from "../../packages/program/src/requests.ts"
import { folderOfFile } from "../../test/folder-of-file.ts"
import { beforeTests, startService, testProcess, testReceiver } from "../../test/start-service.ts"
import { makeCertificate } from "./certificate.ts"

const root = join(import.meta.dirname, "../..")
const folder = folderOfFile()

type App = "docs-server" | "relay" | "platform-api"
type Env = Readonly<Record<string, string>>
type Finding = { readonly check: string; readonly verdict: string; readonly text: string; readonly next?: string }

const run = async (app: App, args: readonly string[], env: Env = {}) => {
  const child = startProcess(process.execPath, ["src/main.ts", ...args], { cwd: join(root, "apps", app), env })
  const code = await child.exited
  return { code, stdout: child.stdout(), stderr: child.stderr() }
}

/** These start processes that take seconds, or wait for a deadline. */
const long = { tags: ["long"] }

const checks = { "docs-server": docsChecks, relay: relayChecks, "platform-api": platformChecks }

/** What `doctor --json` prints, without the start of a process. */
const examine = async (app: App, env: Env) => {
  let stdout = ""
  const code = await runDoctor({
    service: app,
    version: "1.0.0",
    args: ["--json"],
    checks: () => checks[app](env, processRuntime(env)),
    write: (text) => (stdout += text),
  })
  const { verdict, findings } = JSON.parse(stdout) as { verdict: string; findings: readonly Finding[] }
  for (const { verdict: one, next } of findings) expect(next === undefined).toBe(one === "pass")
  return { code, verdict, findings, stdout }
}

/** A finding whose text and next step match. */
const finding = (check: string, verdict: string, text = /./, next?: RegExp) => {
  const step = next === undefined ? {} : { next: expect.stringMatching(next) as string }
  return expect.objectContaining({ check, verdict, text: expect.stringMatching(text) as string, ...step }) as Finding
}

const genesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
type Answers = Record<string, { body: unknown; headers?: Env; status?: number }>
/** The responses of the provider, the platform and the proxy in front of each service, by path. */
let answers: Answers
const others = beforeTests(startReceiver, ({ close }) => close())
const postgres = beforeTests(startPostgres, ({ stop }) => stop())
/** The database with the page's owner and service, and more roles with one fault each. */
const databaseOf = (role: string) => `postgres://${role}@127.0.0.1:${postgres.port}/svc`
const psql = (url: string, ...args: string[]) => {
  const { status, stderr } = spawnSync("psql", ["--quiet", "--set=ON_ERROR_STOP=1", ...args, url], { encoding: "utf8" })
  expect([status, stderr]).toEqual([0, ""])
}
const store = beforeTests(startRedis, ({ stop }) => stop())
const signingKey = await generateSigningKey()
let sound: Readonly<Record<App, Env>>

const certificate = (days: number) => {
  const [key, cert] = [join(folder, "server.key"), join(folder, "server.crt")]
  makeCertificate(key, cert, ["localhost"], days)
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

const rpc = (hash = genesis, lagSeconds = 0) => ({
  getGenesisHash: hash,
  getSlot: 1000,
  get getBlockTime() {
    return Math.floor(Date.now() / 1000) - lagSeconds
  },
})

beforeAll(async () => {
  others.answer(({ url, body }, response) => {
    const { status = 200, headers = {}, body: answer } = answers[url] ?? { status: 404, body: {} }
    const { method } = (body.length > 0 ? JSON.parse(body.toString()) : {}) as { method?: string }
    const result = method === undefined ? answer : { jsonrpc: "2.0", id: 1, result: Object(answer)[method] as unknown }
    response.writeHead(status, headers).end(JSON.stringify(result))
  })
  const roles = ["svc_service", "svc_reader", "svc_poor", "svc_late", "svc_hasty", "svc_quiet"].map(
    (role) => `create role ${role} login;`,
  )
  psql(postgres.url, `--command=create role svc_owner login; ${roles.join(" ")}`)
  psql(postgres.url, "--command=create database svc owner svc_owner")
  psql(postgres.url, "--command=create database svc_latin encoding 'LATIN1' locale 'C' template template0")
  psql(postgres.url, "--command=create database svc_bare owner svc_owner")
  psql(`${databaseOf("svc_owner")}_bare`, "--command=drop schema public")
  const at = (path: string) => `${others.url}${path}`
  sound = {
    "docs-server": { SVC_API_URL: at("/platform"), SVC_RELAY_URL: at("/relay"), SVC_DOCS_URL: at("/docs") },
    relay: {
      SVC_TRANSACTIONS_ENABLED: "true",
      SVC_TRANSACTION_RPC_URL: at("/rpc"),
      SVC_TRANSACTION_READ_FALLBACK_URLS: at("/fallback"),
      SVC_SESSION_JWKS_URL: at("/jwks"),
      SVC_SESSION_AUDIENCE: "transfers",
      SVC_LIMITS_URL: store.url,
      SVC_RELAY_URL: at("/relay"),
      SVC_DOCS_URL: at("/docs"),
    },
    "platform-api": {
      DATABASE_URL: databaseOf("svc_service"),
      SVC_DATA_DIR: join(folder, "data"),
      SVC_SESSION_SIGNING_KEY: signingKey,
      SVC_LIMITS_URL: store.url,
      SVC_API_URL: at("/platform"),
      SVC_DOCS_URL: at("/docs"),
    },
  }
  mkdirSync(join(folder, "data"), { mode: 0o700 })
  const jwks = publicJwks(await readSigningKeys(signingKey))
  answers = {
    "/rpc": { body: rpc() },
    "/fallback": { body: rpc() },
    "/jwks": { body: jwks },
    "/old": { body: jwks, headers: { age: "4000" } },
    "/expired": { body: { keys: [{ kty: "OKP", crv: "Ed25519", x: "a", exp: 1_700_000_000 }] } },
    "/other-chain": { body: rpc("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG") },
    "/lagging": { body: rpc(genesis, 600) },
    "/late-clock": { body: rpc(), headers: { date: new Date(Date.now() - 60_000).toUTCString() } },
    "/twice": { body: { keys: [...jwks.keys, ...jwks.keys] } },
    "/issuer": { body: jwks, headers: { "x-svc-issuer": "somebody" } },
    "/platform/health": { body: { database: "ok" } },
    "/platform/.well-known/jwks.json": { body: jwks },
    "/relay/health": { body: { transactions: {} } },
    "/docs/health": { body: { pages: 1 } },
    "/health": { body: { status: "degraded", database: "unavailable" }, status: 503 },
    "/hidden/health": { body: { database: "ok" } },
    "/docs/livez": { body: {} },
    "/moved/livez": { body: {}, status: 308, headers: { location: "https://api.example.com/livez" } },
    "/moved/health": { body: {}, status: 308, headers: { location: "https://api.example.com/health" } },
    "/relay/livez": { body: {} },
    "/platform/livez": { body: {}, headers: { "x-svc-client-address": "203.0.113.7; trusted" } },
    "/hidden/livez": { body: {}, headers: { "x-svc-client-address": "10.0.0.2; ignored" } },
  }
  await run("platform-api", ["migrate"], { ...sound["platform-api"], DATABASE_URL: databaseOf("svc_owner") })
  psql(databaseOf("svc_owner"), `--file=${join(root, "infra/database-roles.sql")}`)
  psql(
    databaseOf("postgres"),
    "--command=grant svc_service to svc_reader, svc_late, svc_hasty, svc_quiet; alter role svc_quiet set session_replication_role = replica; alter role svc_reader set default_transaction_read_only = on; alter role svc_late connection limit 0; alter role svc_hasty set statement_timeout = 1",
  )
})

test("a sound installation passes in every service, and each check has a fault below", async () => {
  const text = readFileSync(import.meta.filename, "utf8")
  const isTried = (check: string) => new RegExp(`finding\\(\n? *"${check}"|^ {4}"?${check}"?: \\[`, "m").test(text)
  const passed: string[] = []
  for (const app of ["relay", "platform-api"] as const) {
    const { code, findings } = await examine(app, sound[app])
    expect(findings.filter(({ verdict }) => verdict !== "pass")).toEqual([])
    expect(code).toBe(0)
    passed.push(...findings.map(({ check }) => check))
  }
  const { findings } = await examine("docs-server", sound["docs-server"])
  expect(findings.filter(({ check, verdict }) => verdict !== "pass" && check !== "packages")).toEqual([])
  const checked = passed.concat(findings.map(({ check }) => check))
  // Whether the packages are built isn't a setting.
  expect(checked.filter((check) => check !== "packages" && !isTried(check))).toEqual([])
})

test("programs that load slowly, as on a busy machine, aren't taken for a database that is late", long, async () => {
  const preload = join(folder, "slow-load.mjs")
  writeFileSync(
    preload,
    `import { registerHooks } from "node:module"
    const slow = new Set(["redis", "postgres"])
    registerHooks({
      load: (url, context, next) => {
        const name = /node_modules\\/(redis|postgres)\\//.exec(url)?.[1]
        if (slow.delete(name)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2200)
        return next(url, context)
      },
    })`,
  )
  const env = { ...sound["platform-api"], NODE_OPTIONS: `--import=${preload}` }
  const { code, stdout } = await run("platform-api", ["doctor", "--json"], env)
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] }
  expect(findings.filter(({ verdict }) => verdict === "fail")).toEqual([])
  expect(code).toBe(0)
})

const away = "127.0.0.1:9"
/** A setting that is wrong: `{others}` is the URL of the other services, `{db:ROLE}` the database's with that role. */
type Fault = readonly [name: string, env: Env, text: RegExp, next?: RegExp]
const db = (rest: string) => ({ DATABASE_URL: `{db:${rest}}` })
const faults: Readonly<Record<App, Readonly<Record<string, readonly Fault[]>>>> = {
  "docs-server": {
    pages: [["no pages", { SVC_DOCS_DIR: join(folder, "none") }, /./]],
    services: [
      ["a platform at the relay's URL", { SVC_RELAY_URL: "{others}/platform" }, /platform-api/, /relay/],
      ["a relay at the platform's URL", { SVC_API_URL: "{others}/relay" }, /leads to relay/],
      ["a relay inside, at the platform's URL", { SVC_API_INTERNAL_URL: "{others}/relay" }, /relay/],
      ["a service's URL that redirects", { SVC_API_URL: "{others}/moved" }, /https:\/\/api\.ex/],
    ],
    settings: [
      ["telemetry that can't start", { SVC_OTEL_ENABLED: "true", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /gRPC/],
    ],
    "stream-url": [["pages of a local stream", { SVC_DOCS_URL: "https://docs.example.com" }, /ws:/]],
  },
  relay: {
    audience: [["a wildcard as audience", { SVC_SESSION_AUDIENCE: "*" }, /"\*"/, /stack list/]],
    clock: [["a clock that is wrong", { SVC_TRANSACTION_RPC_URL: "{others}/late-clock" }, /the provider/]],
    "limits-store": [["an unavailable store", { SVC_LIMITS_URL: `redis://:pw@${away}` }, /ECONNREFUSED/]],
    port: [
      ["a port in use", { PORT: "{others port}" }, /taken by another program/, /PORT/],
      ["a port in use for probes", { SVC_PROBE_PORT: "{others port}" }, /SVC_PROBE_PORT.*taken/, /PORT/],
      ["one port for both", { SVC_PROBE_PORT: "4002" }, /both 4002/, /another port/],
      ["an address of another machine", { HOST: "192.0.2.1" }, /EADDRNOTAVAIL/, /HOST/],
    ],
    provider: [
      ["an unavailable provider", { SVC_TRANSACTION_RPC_URL: `http://${away}/?key=secret` }, /ECONNREFUSED/],
      ["no provider at its URL", { SVC_TRANSACTION_RPC_URL: "{others}/docs/health" }, /isn't a JSON-RPC response/],
      ["another chain", { SVC_TRANSACTION_READ_FALLBACK_URLS: "{others}/other-chain" }, /devnet/],
    ],
    "provider-lag": [["a provider that lags", { SVC_TRANSACTION_RPC_URL: "{others}/lagging" }, /60\d s/]],
    services: [["a platform at the pages' URL", { SVC_DOCS_URL: "{others}/platform" }, /leads to platform-api/]],
    "session-keys": [
      ["another issuer", { SVC_SESSION_JWKS_URL: "{others}/issuer" }, /"somebody"/, /ISSUER/],
      ["two keys with one id", { SVC_SESSION_JWKS_URL: "{others}/twice" }, /two keys.*"/, /Remove/],
      ["an expired key set", { SVC_SESSION_JWKS_URL: "{others}/expired" }, /expired/],
      ["an old copy of the key set", { SVC_SESSION_JWKS_URL: "{others}/old" }, /4000 s/],
      ["no key set", { SVC_SESSION_JWKS_URL: "{others}/none" }, /404/],
      ["session keys that moved", { SVC_SESSION_JWKS_URL: "{others}/moved/health" }, /https:\/\/api/],
    ],
    settings: [
      ["the private key at the relay", { SVC_SESSION_JWKS_URL: "", SVC_SESSION_PUBLIC_KEY: "{other key}" }, /private/],
      ["a setting that can't be read", { PORT: "x" }, /^PORT: /],
      [
        "a file that has no authorities",
        { NODE_EXTRA_CA_CERTS: import.meta.filename },
        /no certificate/,
        /openssl x509/,
      ],
      ["no file of authorities", { NODE_EXTRA_CA_CERTS: join(folder, "none") }, /CA_CERTS: .*ENOENT/],
    ],
    "trusted-proxies": [["strangers as proxies", { SVC_TRUSTED_PROXY_CIDRS: "10.0.0.0/8,0.0.0.0/0" }, /strangers/]],
  },
  "platform-api": {
    "client-address": [["a proxy that hides addresses", { SVC_API_URL: "{others}/hidden" }, /ignored/]],
    database: [
      ["a role whose triggers are off", db("svc_quiet"), /triggers/, /alter role .* reset session_replication_role/],
      [
        "a role that only reads",
        db("svc_reader"),
        /only read/,
        /read_only = off.* alter role .* alter database .* alter system/,
      ],
      ["no free connection", db("svc_late"), /53300/, /alter role/],
      [
        "a short limit of the role's statements",
        db("svc_hasty"),
        /57014|statement_timeout/,
        /alter role .* reset statement_timeout/,
      ],
      ["no such database", { DATABASE_URL: "{db:svc_owner}x" }, /3D000/, /its name/],
      ["no such host", { DATABASE_URL: "postgres://db.invalid/a" }, /ENOTFOUND|AGAIN/, /name/],
      ["an unavailable database", { DATABASE_URL: `postgres://${away}/a` }, /ECONNREFUSED/],
      ["a wrong role or password", db("nobody_here:hunter2"), /nobody_here/, /role/],
      ["another encoding", { DATABASE_URL: "{db:svc_owner}_latin" }, /LATIN1/, /'UTF8'/],
      ["a server without TLS", { DATABASE_URL: "{db:svc_owner}?sslmode=require" }, /TLS/, /ssl/],
      [
        "a missing certificate file",
        { DATABASE_URL: "{db:svc_owner}?sslrootcert=/no/ca.pem" },
        /no such file.*ca\.pem/,
        /sslrootcert/,
      ],
    ],
    migrations: [
      ["no schema for tables", { DATABASE_URL: "{db:svc_owner}_bare" }, /no schema public/, /create schema/],
      [
        "tables outside of the search path",
        { DATABASE_URL: "{db:svc_service}?options=-csearch_path%3Dapp" },
        /schema public/,
        /search_path/,
      ],
    ],
    "public-url": [
      ["another service at the public URL", { SVC_API_URL: "{others}/relay" }, /to relay/],
      ["a proxy that leads elsewhere", { SVC_API_URL: "{others}/elsewhere" }, /404/],
      ["a public URL that redirects", { SVC_API_URL: "{others}/moved" }, /https:\/\/api\.ex/],
    ],
    rights: [["a role without rights", db("svc_poor"), /permission/, /roles\.sql/]],
    services: [["a relay at the pages' URL", { SVC_DOCS_URL: "{others}/relay" }, /leads to relay/]],
    "signing-key": [
      ["a key that isn't the served one", { SVC_SESSION_SIGNING_KEY: "{other key}" }, /serve/],
      ["one key twice", { SVC_SESSION_SIGNING_KEY: "{one key twice}" }, /twice/, /Remove/],
    ],
    urls: [["others' URLs of this machine", { SVC_API_URL: "https://api.example.com" }, /: SVC_DOCS_URL/]],
  },
}
/** What works all the same. */
const warnings: typeof faults = {
  "docs-server": {},
  relay: {
    settings: [
      ["a mistyped setting", { SVC_SESION_AUDIENCE: "a" }, /SVC_SESION_AUDIENCE/],
      ["a mistyped mode", { NODE_ENV: "prod" }, /NODE_ENV "prod"/],
    ],
    sizes: [["a body without room", { SVC_TRANSACTION_MAX_BYTES: "4096" }, /MAX_BODY_BYTES 4096/]],
    usage: [
      [
        "an unreachable receiver of usage records",
        {
          SVC_TRANSACTION_USAGE_ENABLED: "true",
          SVC_TRANSACTION_USAGE_ENDPOINT: `https://${away}`,
          SVC_TRANSACTION_USAGE_TOKEN: "hunter2",
        },
        /USAGE_ENDPOINT .*ECONNREFUSED/,
      ],
    ],
  },
  "platform-api": {
    "deploy-hook": [
      [
        "an unreachable deploy hook",
        { SVC_DEPLOY_HOOK_URL: `https://${away}`, SVC_DEPLOY_HOOK_SECRET: `whsec_${"a".repeat(43)}=` },
        /HOOK_URL .*ECONNREFUSED/,
      ],
    ],
    port: [["a running service that is degraded", { PORT: "{others port}" }, /503/, /log/]],
    rights: [
      ["the tables' owner", db("svc_owner"), /owner/],
      ["a superuser", db("postgres"), /superuser/],
    ],
  },
}
const rows = (
  [
    ["fail", faults],
    ["warn", warnings],
  ] as const
).flatMap(([verdict, of]) =>
  Object.entries(of).flatMap(([app, byCheck]) =>
    Object.entries(byCheck).flatMap(([check, all]) =>
      all.map(([name, env, text, next = /./]) => ({ name, verdict, app: app as App, check, env, text, next })),
    ),
  ),
)

test.each(rows)("$name: $verdict of $app, with the next step", async ({ verdict, app, check, env, text, next }) => {
  const otherKey = await generateSigningKey()
  const filled = Object.entries(env).map(([name, value]) => [
    name,
    value
      .replace("{others port}", new URL(others.url).port)
      .replace("{others}", others.url)
      .replace("{other key}", otherKey)
      .replace("{one key twice}", `{"keys":[${otherKey},${otherKey}]}`)
      .replace(/\{db:(.*)\}/, (_, role: string) => databaseOf(role)),
  ])
  const { code, findings, ...seen } = await examine(app, { ...sound[app], ...Object.fromEntries(filled) })
  expect([code, seen.verdict]).toEqual([verdict === "fail" ? 1 : 0, verdict])
  expect(findings).toContainEqual(finding(check, verdict, text, next))
  expect(seen.stdout).not.toMatch(/secret|hunter2|:pw@/)
})

/** What doctor says of the limits' store at this URL, or else at the tests' own. */
const storeFindings = async (url = store.url) => {
  const { findings } = await examine("relay", { ...sound.relay, SVC_LIMITS_URL: url })
  return findings.filter(({ check }) => check === "limits-store")
}

/** A TCP server that does this with each connection, until the test is over. Resolves to its port. */
const startTcp = async (serve: (socket: Socket) => void): Promise<number> => {
  const server = createTcpServer(serve)
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test("replicas that count under another prefix are found, not the service's own", async () => {
  await store.command(`ZADD ${createStoreKeys("svc", "relay").replicas} 1 own`)
  await store.command(`ZADD ${createStoreKeys("other", "platform-api").replicas} 1 another`)
  expect(await storeFindings()).toEqual([
    finding("limits-store", "warn", /platform-api.*"other".*"svc"/, /SVC_LIMITS_PREFIX/),
  ])
  await store.command(`DEL ${createStoreKeys("other", "platform-api").replicas}`)
  expect(await storeFindings()).toMatchObject([{ verdict: "pass" }])
})

test("a replica at the public URL that serves other keys is found", async () => {
  const url = `${others.url}/platform/.well-known/jwks.json`
  const own = await (await fetch(url)).text()
  let asked = 0
  const proxy = await testReceiver()
  proxy.answer((_request, response) => response.end(asked++ === 0 ? own : '{"keys":[]}'))
  const { findings } = await examine("platform-api", { ...sound["platform-api"], SVC_API_URL: proxy.url })
  expect(findings).toContainEqual(finding("signing-key", "fail"))
})

const ofService = (command: string) => psql(databaseOf("postgres"), `--command=${command}`)
test.each([
  [
    "a right to change rows",
    "revoke update on users from svc_service",
    "grant update on users to svc_service",
    finding("rights", "fail", /use users$/, /roles\.sql/),
  ],
  [
    "a right to run a function",
    "revoke execute on all functions in schema public from public, svc_service",
    "grant execute on function check_same_spec to svc_service",
    finding("rights", "fail", /check_same_spec/, /roles\.sql/),
  ],
  [
    "rows, by row security",
    "alter table api_keys enable row level security",
    "alter table api_keys disable row level security",
    finding("rights", "fail", /: api_keys$/, /disable row level security/),
  ],
  [
    "a table",
    "alter table signups rename to signups_x",
    "alter table signups_x rename to signups",
    finding("migrations", "fail", /missing: signups\.id, signups\./, /Restore/),
  ],
  [
    "a column",
    "alter table builds rename status to state",
    "alter table builds rename state to status",
    finding("migrations", "fail", /missing: builds\.status$/, /Restore/),
  ],
  [
    "triggers",
    "alter table build_events disable trigger all",
    "alter table build_events enable trigger all",
    finding("migrations", "fail", /: build_events$/, /enable trigger/),
  ],
])("tables from which a restore or a hardening took %s are found", async (_what, fault, repair, expected) => {
  ofService(fault)
  const { findings } = await examine("platform-api", sound["platform-api"])
  ofService(repair)
  expect(findings.filter(({ verdict }) => verdict !== "pass")).toEqual([expected])
})

test("a limit of statements that the service replaces, and sequences of identities, are no fault", async () => {
  ofService(
    "alter role svc_service set statement_timeout = 300; revoke usage on all sequences in schema public from svc_service",
  )
  const { verdict } = await examine("platform-api", sound["platform-api"])
  ofService("alter role svc_service reset all; grant usage on all sequences in schema public to svc_service")
  expect(verdict).toBe("pass")
})

test("a database's certificate of an unknown authority leads to sslrootcert", async () => {
  const port = await startTcp((socket) =>
    socket.once("data", () => {
      socket.write("S")
      new TLSSocket(socket, { isServer: true, ...certificate(90) }).on("error", () => {})
    }),
  )
  const env = { ...sound["platform-api"], DATABASE_URL: `postgres://localhost:${port}/svc?sslmode=verify-full` }
  const { findings } = await examine("platform-api", env)
  expect(findings).toContainEqual(finding("database", "fail", /SELF_SIGNED/, /sslrootcert/))
})

test("several platform processes that count limits for themselves are found", long, async () => {
  const alone = { ...sound["platform-api"], SVC_LIMITS_URL: "" }
  const runs = await Promise.all([1, 2].map(() => startService("platform-api", alone)))
  const found = async (env: Env) =>
    (await examine("platform-api", env)).findings.filter(({ text }) => text.includes("counts limits for itself"))
  await expect.poll(() => found(alone)).toEqual([finding("limits-store", "warn", /./, /SVC_LIMITS_REPLICAS to 2/)])
  expect(await found(sound["platform-api"])).toEqual([])
  await runs[0]?.stop()
  await expect.poll(() => found(alone)).toEqual([])
  await runs[1]?.stop()
})

test("a store that takes no writes is found, and the check writes nothing", async () => {
  const full = await startRedis()
  try {
    for (const [name, code, next] of [
      ["maxmemory", /OOM/, /maxmemory/],
      ["min-replicas-to-write", /NOREPLICAS/, /replicas/],
    ] as const) {
      await full.command(`CONFIG SET ${name} 1`)
      expect(await storeFindings(full.url)).toEqual([finding("limits-store", "fail", code, next)])
      await full.command(`CONFIG SET ${name} 0`)
    }
    expect(await storeFindings(full.url)).toMatchObject([{ verdict: "pass" }])
    await expect(full.command("LSET svc:doctor 0 x")).rejects.toThrow(/no such key/)
    const ofUser = (rules: string) =>
      full.command(`ACL SETUSER u reset on >x ${rules}`).then(() => storeFindings(full.url.replace("//", "//u:x@")))
    const wanted = "~svc:* +@read +@write +@scripting +@connection +info +time"
    for (const less of ["-@scripting", "-time", "-info", "-zrem", "-setrange", "-evalsha", "resetkeys ~other:*"])
      expect(await ofUser(`${wanted} ${less}`)).toEqual([finding("limits-store", "fail", /NOPERM|script/, /~svc/)])
    expect(await storeFindings(`${full.url}/99`)).toEqual([finding("limits-store", "fail", /DB index/, /number/)])
    const [{ next = "" } = {}] = await ofUser("")
    expect(await ofUser(next.slice(next.indexOf("~")))).toMatchObject([{ verdict: "pass" }])
    await full.command("CONFIG SET requirepass x")
    expect(await storeFindings(full.url)).toEqual([finding("limits-store", "fail", /NOAUTH/, /password/)])
  } finally {
    await full.stop()
  }
})

test("a store that refuses each connection at once is found, with its own words", async () => {
  const port = await startTcp((socket) => socket.end("-ERR max number of clients reached\r\n"))
  expect(await storeFindings(`redis://localhost:${port}`)).toEqual([
    finding("limits-store", "fail", /ERR max number of clients reached/, /maxclients/),
  ])
  expect(await storeFindings(`rediss://127.0.0.1:${port}`)).toEqual([finding("limits-store", "fail", /./, /no TLS/)])
})

test("a store that accepts connections and stays silent is found, and the check ends", async () => {
  const port = await startTcp(() => {})
  expect(await storeFindings(`redis://localhost:${port}`)).toEqual([
    finding("limits-store", "fail", /no reply/, /frozen/),
  ])
})

test("too few open files for the connections are found", long, async () => {
  const command = `ulimit -n 1024; exec ${process.execPath} src/main.ts doctor --json`
  const child = startProcess("sh", ["-c", command], { cwd: join(root, "apps/relay"), env: sound.relay })
  await child.exited
  const { findings } = JSON.parse(child.stdout()) as { findings: readonly Finding[] }
  expect(findings).toContainEqual(finding("open-files", "warn", /1024/))
})

test("a pooler that shares connections between transactions is found", async (context) => {
  if (spawnSync("sh", ["-c", "command -v pgbouncer"]).status !== 0) context.skip("no PgBouncer")
  const port = await freePort()
  const config = join(folder, "pgbouncer.ini")
  const options = `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction`
  const target = `host=127.0.0.1 port=${postgres.port} user=svc_service`
  writeFileSync(
    config,
    `[databases]\nsvc = ${target}\n[pgbouncer]\n${options}\nignore_startup_parameters = extra_float_digits\n`,
  )
  chmodSync(folder, 0o755)
  const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
  const [command, ...args] = [...asNobody, "pgbouncer", config]
  const pooler = testProcess(command, args, { cwd: folder })
  await pooler.waitFor(/process up/)
  const env = { ...sound["platform-api"], DATABASE_URL: `postgres://svc_service@127.0.0.1:${port}/svc` }
  const { findings } = await examine("platform-api", env)
  expect(findings.filter(({ check }) => check === "database")).toEqual([finding("database", "fail", /./, /pool_mode/)])
})

test("a viewer key that was revoked, or belongs to other pages, is found", long, async () => {
  const { url } = await startService("platform-api", sound["platform-api"])
  const { stdout } = await run(
    "platform-api",
    ["viewer-key", "create", "--origin", "https://docs.example.com"],
    sound["platform-api"],
  )
  const { key, id } = JSON.parse(stdout) as { key: string; id: number }
  const look = async (docsUrl: string) => {
    const env = { ...sound["docs-server"], SVC_API_URL: url, SVC_VIEWER_KEY: key, SVC_DOCS_URL: docsUrl }
    const { findings } = await examine("docs-server", env)
    return findings.filter(({ check }) => check === "viewer-key")
  }
  expect(await look("https://docs.example.com")).toMatchObject([{ verdict: "pass" }])
  expect(await look("https://other.example.com")).toEqual([finding("viewer-key", "fail", /origin-not-allowed/)])
  await run("platform-api", ["key", "revoke", String(id)], sound["platform-api"])
  expect(await look("https://docs.example.com")).toMatchObject([{ verdict: "fail" }])
})

/** What doctor says of a public URL at this time, with a new certificate of so many days for localhost. */
const publicUrlFindings = async (host: string, days: number, time: number) => {
  const server = createServer(certificate(days), (_request, response) => response.end("{}")).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `https://${host}:${(server.address() as AddressInfo).port}`
  const findings = await checkPublicUrl("relay", "SVC_RELAY_URL", url, time)
  server.close()
  return findings
}

test("an unknown certificate authority leads to NODE_EXTRA_CA_CERTS, and latency isn't reported as a wrong clock", async () => {
  const findings = await publicUrlFindings("127.0.0.1", 90, Date.now())
  expect(findings.at(-1)).toEqual(finding("public-url", "warn", /./, /export NODE_EXTRA_CA_CERTS .* --env-file/))
  expect(checkClock("the database", 2_000, [1_000, 9_000], 0)).toMatchObject([{ verdict: "pass" }])
})

test("a missing migration is found, and the check writes nothing", async () => {
  const empty = await createTestDatabase()
  const env = { ...sound["platform-api"], DATABASE_URL: empty.url, SVC_DATA_DIR: join(folder, "new") }
  for (let time = 0; time < 2; time++) {
    const { findings } = await examine("platform-api", env)
    expect(findings).toContainEqual(finding("migrations", "fail"))
  }
  expect(spawnSync("ls", [join(folder, "new")]).status).not.toBe(0)
  await empty.stop()
})

test.each([
  ["of 90 days is reported before it expires", 90, 87, "warn", /ends in [23] days/],
  [
    "of one day, as Caddy's own authority makes them, is not late with hours to go",
    1,
    0.5,
    "pass",
    /ends in 1[12] hours/,
  ],
  ["that wasn't renewed in time is reported, however short its lifetime", 1, 0.9, "warn", /ends in [12] hours/],
  ["that has expired fails", 1, 2, "fail", /has expired/],
  ["that isn't valid yet fails", 1, -1, "fail", /isn't valid yet/],
])("a certificate %s", async (_what, days, passed, verdict, text) => {
  const [first] = await publicUrlFindings("localhost", days, Date.now() + passed * 86_400_000)
  expect(first).toEqual(finding("certificate", verdict, text))
})

test("a full disk, a read-only one and a world-writable folder are found", async (context) => {
  const data = join(folder, "small")
  mkdirSync(data)
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=600k", "tmpfs", data]).status !== 0) context.skip("can't mount")
  try {
    chmodSync(data, 0o700)
    const { SVC_SESSION_SIGNING_KEY: _, ...keyless } = sound["platform-api"]
    const env = { ...keyless, SVC_DATA_DIR: data }
    const small = await examine("platform-api", env)
    expect(small.findings).toContainEqual(finding("data-folder", "fail"))
    spawnSync("mount", ["-o", "remount,ro", data])
    const readOnly = await examine("platform-api", env)
    expect(readOnly.findings).toContainEqual(finding("data-folder", "fail", /read-only/))
    spawnSync("mount", ["-o", "remount,rw", data])
    chmodSync(data, 0o777)
    const open = await examine("platform-api", env)
    expect(open.findings.find(({ check }) => check === "data-folder")?.text).toMatch(/every user can write/)
  } finally {
    spawnSync("umount", [data])
  }
})

test("the host in a database URL's query counts, as for the service", async () => {
  const [at, query] = ["svc_service@db.invalid/svc", `host=127.0.0.1&port=${postgres.port}`]
  const { findings } = await examine("platform-api", {
    ...sound["platform-api"],
    DATABASE_URL: `postgres://${at}?${query}`,
  })
  expect(findings).toContainEqual(finding("database", "pass"))
})

test("a silent name server is named, and the database isn't blamed for it", long, async () => {
  const silent = createSocket("udp4").bind({ address: "127.0.0.77", port: 53 })
  await once(silent, "listening")
  const names = join(folder, "resolv.conf")
  // Longer than a connection to the database may take.
  writeFileSync(names, "nameserver 127.0.0.77\noptions timeout:6 attempts:1\n")
  const env = {
    ...sound["platform-api"],
    DATABASE_URL: databaseOf("svc_service").replace("127.0.0.1", "localhost"),
    SVC_SESSION_SIGNING_KEY: "",
    SVC_API_URL: "http://api.example.com",
    SVC_DOCS_URL: "http://docs.example.com",
  }
  const inside = `mount --bind ${names} /etc/resolv.conf && exec "$0" src/main.ts doctor --json`
  const child = startProcess("unshare", ["--mount", "sh", "-c", inside, process.execPath], {
    cwd: join(root, "apps/platform-api"),
    env,
  })
  await child.exited
  silent.close()
  const { findings } = JSON.parse(child.stdout()) as { findings: readonly Finding[] }
  expect(findings.filter(({ check }) => check === "database").map(({ verdict }) => verdict)).toEqual(["pass"])
  for (const check of ["services", "public-url"])
    expect(findings).toContainEqual(
      finding(check, "warn", /EAI_AGAIN/, /^Check this machine's name server: it doesn't respond\.$/),
    )
})

test("a running service tells only doctor which client address it sees", async () => {
  const env = { ...sound["platform-api"], SVC_TRUSTED_PROXY_CIDRS: "127.0.0.9/32" }
  const { url, stop } = await startService("platform-api", env)
  const proxied = { "x-forwarded-for": "203.0.113.9" }
  const seen = async (headers: Env) => (await fetch(`${url}/livez`, { headers })).headers.get("x-svc-client-address")
  expect(await seen({})).toBeNull()
  expect(await seen({ "x-svc-doctor": "1" })).toBe("127.0.0.1; none")
  expect(await seen({ "x-svc-doctor": "1", ...proxied })).toBe("127.0.0.1; ignored")
  const { findings } = await examine("platform-api", { ...sound["platform-api"], SVC_API_URL: url })
  expect(findings).toContainEqual({
    check: "client-address",
    verdict: "pass",
    text: "this request came from 127.0.0.1",
  })
  expect(await stop()).toBe(0)
})

test("--help and --version print, and an unknown argument starts nothing", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "apps/relay/package.json"), "utf8")) as { version: string }
  // All have one program for these.
  expect(await run("relay", ["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" })
  expect((await run("relay", ["--help"])).stdout).toMatch(/^\S+ [\d.]+\n[\s\S]+ {2}doctor \[--json\]/)
  expect((await run("relay", ["doctor", "--jsno"])).code).toBe(2)
  for (const app of ["docs-server", "relay", "platform-api"] as const)
    expect((await run(app, ["serve"])).code).toBe(app === "platform-api" ? 1 : 2)
})
