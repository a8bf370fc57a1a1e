// What a backup saved comes back whole, and only into an empty database.
// @module-tag long
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createTestDatabase } from "@svc/testing"
import { expect, onTestFinished, test } from "vitest"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { operate } from "./program.ts"
import { insertRecords } from "./records/records.ts"
import { serviceInTest, startTestService, type TestService } from "./service.ts"

const folder = folderOfFile()
const noBackup = join(folder, "no-backup")
writeFileSync(noBackup, "not a backup")

/** Puts something of every kind into a service, and returns a check that another service has all of it. */
const fill = async (service: TestService) => {
  const agent = await service.signUp()
  const friend = await service.signUp()
  const { spec, build, deployment, run } = await insertRecords(service, agent.slug, [friend.slug])
  const { body: minted } = await service.call("POST", "/api/agents/me/keys", { key: agent.key })
  await service.call("DELETE", `/api/agents/me/keys/${minted.id}`, { key: agent.key })
  const paths = [
    "/api/agents/me/keys",
    "/api/registry",
    "/api/specs",
    `/api/specs/${spec}/versions`,
    `/api/specs/${spec}/schema`,
    "/api/builds?limit=1&offset=0",
    `/api/builds/${build}`,
    "/api/deployments",
    `/api/deployments/${deployment}/events`,
    "/api/automation/runs",
    `/api/automation/runs/${run}`,
  ]
  // The use of a key is written down late, and shows in the list of keys alone.
  const withoutUse = (name: string, value: unknown): unknown => (name === "last_used_at" ? null : value)
  const seen = (from: TestService) =>
    Promise.all(
      [agent.key, friend.key].flatMap((key) =>
        paths.map(async (path) => {
          const { status, body } = await from.call("GET", path, { key })
          return [path, status, JSON.parse(JSON.stringify(body), withoutUse)]
        }),
      ),
    )
  const saved = await seen(service)
  return async (restored: TestService) => {
    expect(await seen(restored)).toEqual(saved)
    // Life goes on: dead keys stay dead, ids go on after those of the backup, and the guards are in their places.
    expect((await restored.call("GET", "/api/agents/me", { key: minted.key })).code).toBe("invalid-api-key")
    expect((await insertRecords(restored, agent.slug)).build).toBeGreaterThan(build)
    await restored.signUp()
    for (const [statement, refusal] of [
      ["update builds set status = 'completed' where id = $1", /follows from/],
      ["delete from build_events where build_id = $1", /only ever added/],
      [
        "insert into build_events (build_id, event_type, new_status, created_at) values ($1, 's', 'queued', now())",
        /violates check constraint/,
      ],
      ["delete from audit_log where id = $1 or true", /only ever added/],
    ] as const) {
      await expect(restored.database().query(statement, [build])).rejects.toThrow(refusal)
    }
  }
}

const fails = async (args: readonly string[], env: Readonly<Record<string, string>>, code: string) =>
  expect(await operate(args, env)).toMatchObject({ code: 1, json: { code } })

const majorOf = (command: string): number => {
  try {
    return Number(/(\d+)/.exec(execFileSync(command, ["--version"], { encoding: "utf8" }))?.[1])
  } catch {
    return 0
  }
}

test("a server's database is restored from a backup that was made while the service ran", async (context) => {
  const to = await createTestDatabase()
  onTestFinished(to.stop)
  const service = await serviceInTest("postgres")
  const major = "select current_setting('server_version_num')::integer / 10000 as major where $1"
  const [version] = await service.database().query<{ major: number }>(major, [true])
  // PostgreSQL's own client programs come with no npm package; they must not be older than the server.
  if (majorOf("pg_dump") < (version?.major ?? 0)) context.skip("pg_dump is missing or older than the server")
  const isWhole = await fill(service)
  const file = join(folder, "platform.dump")
  const env = { DATABASE_URL: service.databaseUrl, SVC_DATA_DIR: join(folder, "unused") }
  expect(await operate(["backup", file], env)).toMatchObject({ code: 0, json: { kind: "postgresql", file } })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await fails(["backup", file], env, "file-exists")
  await fails(["restore", file], env, "database-not-empty")
  const empty = { ...env, DATABASE_URL: to.url }
  await fails(["restore", noBackup], empty, "tool-failed")
  const foreign = join(folder, "foreign.dump")
  expect(await operate(["backup", foreign], empty)).toMatchObject({ code: 0 })
  await fails(["restore", foreign], empty, "unreadable-file")
  expect(await operate(["restore", file], empty)).toMatchObject({ code: 0, json: { restored: true } })
  await isWhole(await serviceInTest("postgres", empty))
})

test("an embedded database is restored from its backup, only into a folder without one", async () => {
  const service = await startTestService("embedded", { SVC_DATA_DIR: join(folder, "data") })
  const isWhole = await fill(service)
  await service.close()
  const env = { SVC_DATA_DIR: join(folder, "data") }
  const file = join(folder, "data.tar.gz")
  expect(await operate(["backup", file], env)).toMatchObject({ code: 0, json: { kind: "embedded" } })
  await fails(["restore", file], env, "database-not-empty")
  const empty = { SVC_DATA_DIR: join(folder, "copy") }
  expect(await operate(["restore", noBackup], empty)).toMatchObject({ code: 1 })
  expect(existsSync(join(folder, "copy/database"))).toBe(false)
  expect(await operate(["restore", file], empty)).toMatchObject({ code: 0, json: { restored: true } })
  expect(readdirSync(join(folder, "copy")).filter((name) => name.endsWith(".lock.sock"))).toEqual([])
  await isWhole(await serviceInTest("embedded", empty))
})

const archives: readonly (readonly [string, (pack: string) => void])[] = [
  ["without a database", () => {}],
  ["with a link out of the folder", (pack) => symlinkSync("/etc/passwd", join(pack, "signing-keys"))],
  ["with a link in the database's place", (pack) => symlinkSync(folder, join(pack, "database"))],
  ["with a pipe", (pack) => execFileSync("mkfifo", [join(pack, "pipe")])],
]

test.each(archives)("an archive %s leaves nothing behind, so another can be restored", async (name, put) => {
  const pack = mkdtempSync(join(folder, "pack-"))
  if (name !== "without a database") writeFileSync(join(pack, "database.complete"), "")
  put(pack)
  const file = `${pack}.tar.gz`
  execFileSync("tar", ["--create", "--gzip", `--file=${file}`, `--directory=${pack}`, "."])
  const env = { SVC_DATA_DIR: `${pack}-data` }
  await fails(["restore", file], env, "unreadable-file")
  expect(readdirSync(env.SVC_DATA_DIR)).toEqual([])
})

test("a missing file or a failed backup leaves nothing behind", async () => {
  const env = { DATABASE_URL: "postgres://127.0.0.1:9/none", SVC_DATA_DIR: join(folder, "none") }
  await fails(["backup", join(folder, "lost.dump")], env, "tool-failed")
  expect(readdirSync(folder).filter((name) => name.startsWith("lost"))).toEqual([])
  expect(await operate(["restore", join(folder, "missing")], env)).toMatchObject({ json: { code: "unreadable-file" } })
})

test("where the server's certificate is verified, pg_dump gets the service's authorities", async () => {
  const bin = mkdtempSync(join(folder, "bin-"))
  const tool = `#!/bin/sh\nfor one; do case $one in --file=*) echo "ca=$PGSSLROOTCERT" > "\${one#--file=}";; esac; done\n`
  writeFileSync(join(bin, "pg_dump"), tool, { mode: 0o755 })
  const given = { PATH: `${bin}:${process.env["PATH"]}`, NODE_EXTRA_CA_CERTS: "/dev/null" }
  for (const [mode, ca] of [
    ["require", ""],
    ["verify-full", "/dev/null"],
  ] as const) {
    const file = join(bin, mode)
    const { json } = await operate(["backup", file], { ...given, DATABASE_URL: `postgres://a@b/c?sslmode=${mode}` })
    expect([json, readFileSync(file, "utf8")]).toEqual([expect.objectContaining({ file }), `ca=${ca}\n`])
  }
})
