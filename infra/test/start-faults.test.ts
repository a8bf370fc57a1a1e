// A start that fails says why: one JSON line with the reason, the setting and the next step, and nothing that isn't JSON.
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPostgres, startProcess } from "@svc/testing"
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest"

type App = "docs-server" | "relay" | "platform-api"
type Env = Readonly<Record<string, string>>

const folder = mkdtempSync(join(tmpdir(), "svc-starts-"))
const taken = createServer()
let server: Awaited<ReturnType<typeof startPostgres>>
const databaseOf = (role: string, name = "postgres") => `postgres://${role}@127.0.0.1:${server.port}/${name}`

beforeAll(async () => {
  await once(taken.listen(0, "127.0.0.1"), "listening")
  server = await startPostgres()
  execFileSync("psql", ["--quiet", "--command=create role svc_service login", server.url])
  execFileSync("psql", ["--quiet", "--command=create database made", server.url])
  execFileSync("psql", ["--quiet", "--command=create table registry_changes ()", databaseOf("postgres", "made")])
})
afterAll(async () => {
  taken.close()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const port = () => String((taken.address() as AddressInfo).port)
const prometheus = () => ({
  SVC_OTEL_ENABLED: "true",
  OTEL_METRICS_EXPORTER: "prometheus",
  OTEL_EXPORTER_PROMETHEUS_HOST: "127.0.0.1",
  OTEL_EXPORTER_PROMETHEUS_PORT: port(),
})
const relay = { SVC_TRANSACTIONS_ENABLED: "true" }

/** The test's own small file system. Only root can mount it. */
const mounted = (name: string, options: string, context: TestContext): string => {
  const path = join(folder, name)
  mkdirSync(path)
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `mode=0700,${options}`, "tmpfs", path])
  if (status !== 0) context.skip("can't mount")
  context.onTestFinished(() => void spawnSync("umount", [path]))
  return path
}

const faults: readonly [name: string, app: App, env: (context: TestContext) => Env, setting: string, text: RegExp][] = [
  [
    "a missing migration",
    "platform-api",
    () => ({ DATABASE_URL: databaseOf("svc_service") }),
    "DATABASE_URL",
    /migrate/,
  ],
  [
    "an unavailable database",
    "platform-api",
    () => ({ DATABASE_URL: "postgres://127.0.0.1:9/a" }),
    "DATABASE_URL",
    /REFUSED/,
  ],
  [
    "a role that doesn't exist",
    "platform-api",
    () => ({ DATABASE_URL: databaseOf("nobody") }),
    "DATABASE_URL",
    /nobody/,
  ],
  [
    "no database of the name",
    "platform-api",
    () => ({ DATABASE_URL: databaseOf("postgres", "x") }),
    "DATABASE_URL",
    /x/,
  ],
  [
    "a full folder",
    "platform-api",
    (one) => ({ SVC_DATA_DIR: mounted("f", "size=300k", one) }),
    "SVC_DATA_DIR",
    /space/,
  ],
  ["a read-only folder", "platform-api", (one) => ({ SVC_DATA_DIR: mounted("r", "ro", one) }), "SVC_DATA_DIR", /EROFS/],
  [
    "a folder in a file",
    "platform-api",
    () => ({ SVC_DATA_DIR: "/etc/hostname/x" }),
    "SVC_DATA_DIR",
    /can't be created/,
  ],
  ["a folder that is a file", "platform-api", () => ({ SVC_DATA_DIR: "/etc/hostname" }), "SVC_DATA_DIR", /EEXIST/],
  ["a folder that can't be created", "platform-api", () => ({ SVC_DATA_DIR: "/proc/x" }), "SVC_DATA_DIR", /ENOENT/],
  [
    "an ambiguous password",
    "platform-api",
    () => ({ DATABASE_URL: "postgres://a:b@c/d@127.0.0.1/e" }),
    "DATABASE_URL",
    /percent-encoded/,
  ],
  [
    "a role that looks elsewhere",
    "platform-api",
    () => ({ DATABASE_URL: `${databaseOf("svc_service", "made")}?options=-csearch_path%3Dapp` }),
    "DATABASE_URL",
    /schema public.*search_path/,
  ],
  ["quotes in an env file", "docs-server", () => ({ HOST: "'127.0.0.1'" }), "HOST", /quotes/],
  ["a port in use", "platform-api", () => ({ PORT: port(), SVC_DATA_DIR: join(folder, "d") }), "PORT", /EADDRINUSE/],
  ["a port in use", "relay", () => ({ PORT: port() }), "PORT", /EADDRINUSE.*ss -ltnp/],
  ["a port in use", "docs-server", () => ({ PORT: port() }), "PORT", /EADDRINUSE/],
  ["a port in use for probes", "relay", () => ({ SVC_PROBE_PORT: port() }), "SVC_PROBE_PORT", /EADDRINUSE/],
  ["a port in use of metrics", "relay", prometheus, "OTEL_EXPORTER_PROMETHEUS_PORT", /EADDRINUSE/],
  ["an address of another machine", "relay", () => ({ HOST: "192.0.2.1" }), "HOST", /EADDRNOTAVAIL/],
  ["no provider", "relay", () => relay, "SVC_TRANSACTION_RPC_URL", /SVC_TRANSACTION_RPC_URL: is required/],
  ["no pages", "docs-server", () => ({ SVC_DOCS_DIR: join(folder, "none") }), "SVC_DOCS_DIR", /none/],
  ["two wrong settings", "docs-server", () => ({ PORT: "x", SVC_API_URL: "y" }), "PORT, SVC_API_URL", /integer[^]*URL/],
]

test.for(faults)(
  "%s stops %s, with the setting and the step",
  { timeout: 60_000 },
  async ([, app, env, setting, text], context) => {
    const cwd = join(import.meta.dirname, "../../apps", app)
    const child = startProcess(process.execPath, ["src/main.ts"], { cwd, env: { PORT: "0", ...env(context) } })
    expect(await child.exited).toBe(1)
    const lines = `${child.stdout()}${child.stderr()}`.trimEnd().split("\n")
    const last = lines.map((line) => JSON.parse(line) as Record<string, string>).at(-1)
    expect(last).toMatchObject({ level: "error", service: app, msg: "the start failed", setting })
    expect(`${last?.["reason"]} ${last?.["next"]}`).toMatch(text)
    expect(last?.["next"]).toMatch(/\.$/)
  },
)
