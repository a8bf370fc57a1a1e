// A start that fails says why: one JSON line with the reason, the setting and the next step, and nothing that isn't JSON.
// @module-tag long
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { once } from "node:events"
import { join } from "node:path"
import { startPostgres, startProcess } from "@svc/testing"
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest"
import { folderOfFile } from "../../test/folder-of-file.ts"
import { beforeTests } from "../../test/start-service.ts"

type App = "docs-server" | "relay" | "platform-api"
type Env = Readonly<Record<string, string>>

const folder = folderOfFile()
const taken = createServer()
const server = beforeTests(startPostgres, ({ stop }) => stop())
const databaseOf = (role: string, name = "postgres") => `postgres://${role}@127.0.0.1:${server.port}/${name}`

beforeAll(async () => {
  await once(taken.listen(0, "127.0.0.1"), "listening")
  execFileSync("psql", ["--quiet", "--command=create role svc_service login", server.url])
  execFileSync("psql", ["--quiet", "--command=create database made", server.url])
  execFileSync("psql", ["--quiet", "--command=create database closed", server.url])
  const close = "--command=revoke all on schema public from public"
  execFileSync("psql", ["--quiet", close, databaseOf("postgres", "closed")])
  execFileSync("psql", ["--quiet", "--command=create table registry_changes ()", databaseOf("postgres", "made")])
})
afterAll(() => void taken.close())

const port = () => String((taken.address() as AddressInfo).port)
const prometheus = () => ({
  SVC_OTEL_ENABLED: "true",
  OTEL_METRICS_EXPORTER: "prometheus",
  OTEL_EXPORTER_PROMETHEUS_HOST: "127.0.0.1",
  OTEL_EXPORTER_PROMETHEUS_PORT: port(),
})

/** The test's own small file system. Only root can mount it. */
const mounted = (name: string, options: string, context: TestContext): string => {
  const path = join(folder, name)
  mkdirSync(path)
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `mode=0700,${options}`, "tmpfs", path])
  if (status !== 0) context.skip("can't mount")
  context.onTestFinished(() => void spawnSync("umount", [path]))
  return path
}

type Fault = readonly [name: string, env: (context: TestContext) => Env, text: RegExp]
const database = (url: () => string) => () => ({ DATABASE_URL: url() })
/** By the service that it stops and the setting that is named. */
const faults: Readonly<Record<App, Readonly<Record<string, readonly Fault[]>>>> = {
  "docs-server": {
    PORT: [["a port in use", () => ({ PORT: port() }), /EADDRINUSE/]],
    "PORT, SVC_API_URL": [["two wrong settings", () => ({ PORT: "x", SVC_API_URL: "y" }), /integer[^]*URL/]],
    SVC_DOCS_DIR: [["no pages", () => ({ SVC_DOCS_DIR: join(folder, "none") }), /none/]],
  },
  relay: {
    HOST: [["an address of another machine", () => ({ HOST: "192.0.2.1" }), /EADDRNOTAVAIL/]],
    OTEL_EXPORTER_PROMETHEUS_HOST: [
      [
        "metrics at another machine",
        () => ({ ...prometheus(), OTEL_EXPORTER_PROMETHEUS_HOST: "192.0.2.1" }),
        /this machine/,
      ],
    ],
    OTEL_EXPORTER_PROMETHEUS_PORT: [["a port in use of metrics", prometheus, /EADDRINUSE/]],
    PORT: [["a port in use", () => ({ PORT: port() }), /EADDRINUSE.*ss -ltnp/]],
    SVC_LIMITS_URL: [["a store's name for its number", () => ({ SVC_LIMITS_URL: "redis://:pw@localhost/svc" }), /\/0/]],
    SVC_PROBE_PORT: [["a port in use for probes", () => ({ SVC_PROBE_PORT: port() }), /EADDRINUSE/]],
  },
  "platform-api": {
    DATABASE_URL: [
      ["a missing migration", database(() => databaseOf("svc_service")), /migrate/],
      ["an unavailable database", database(() => "postgres://127.0.0.1:9/a"), /REFUSED/],
      ["a role that doesn't exist", database(() => databaseOf("nobody")), /nobody/],
      ["no database of the name", database(() => databaseOf("postgres", "x")), /x/],
      [
        "a role that may not use the schema",
        database(() => databaseOf("svc_service", "closed")),
        /can't use the schema public.*roles\.sql/,
      ],
      [
        "a role that looks elsewhere",
        database(() => `${databaseOf("svc_service", "made")}?options=-csearch_path%3Dapp`),
        /schema public.*search_path/,
      ],
    ],
    PORT: [["a port in use", () => ({ PORT: port(), SVC_DATA_DIR: join(folder, "d") }), /EADDRINUSE/]],
    SVC_DATA_DIR: [
      ["a full folder", (one) => ({ SVC_DATA_DIR: mounted("f", "size=300k", one) }), /space/],
      ["a read-only folder", (one) => ({ SVC_DATA_DIR: mounted("r", "ro", one) }), /EROFS/],
      ["a folder in a file", () => ({ SVC_DATA_DIR: "/etc/hostname/x" }), /can't be created/],
      ["a folder that is a file", () => ({ SVC_DATA_DIR: "/etc/hostname" }), /EEXIST/],
      ["a folder that can't be created", () => ({ SVC_DATA_DIR: "/proc/x" }), /ENOENT/],
    ],
  },
}
const rows = Object.entries(faults).flatMap(([app, settings]) =>
  Object.entries(settings).flatMap(([setting, all]) =>
    all.map(([name, ...rest]) => [name, app, setting, ...rest] as const),
  ),
)

test.for(rows)("%s stops %s, with the setting %s and the step", async ([, app, setting, env, text], context) => {
  const cwd = join(import.meta.dirname, "../../apps", app)
  const child = startProcess(process.execPath, ["src/main.ts"], { cwd, env: { PORT: "0", ...env(context) } })
  expect(await child.exited).toBe(1)
  const lines = `${child.stdout()}${child.stderr()}`.trimEnd().split("\n")
  const last = lines.map((line) => JSON.parse(line) as Record<string, string>).at(-1)
  expect(last).toMatchObject({ level: "error", service: app, msg: "the start failed", setting })
  expect(`${last?.["reason"]} ${last?.["next"]}`).toMatch(text)
  expect(last?.["next"]).toMatch(/\.$/)
})
