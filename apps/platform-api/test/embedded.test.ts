// @module-tag long
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { PGlite } from "@electric-sql/pglite"
import { readMigrationFiles } from "../src/db/database.ts"
import { closeDataFolder } from "../src/data-folder.ts"
import { openEmbeddedDatabase } from "../src/db/embedded/embedded.ts"
import { lockFolder } from "../src/db/embedded/folder-lock.ts"
import { operate, startProgram, startReplica } from "./program.ts"
import { startTestService, temporaryFolder } from "./service.ts"

let place: ReturnType<typeof temporaryFolder>
let env: Record<string, string>
beforeEach(() => {
  place = temporaryFolder()
  env = { SVC_DATA_DIR: join(place.folder, "data") }
})
afterEach(() => place.remove())

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

test("only the owner can read the folder, and a second process is rejected, service or command", async () => {
  const first = await startReplica(env)
  expect(statSync(join(place.folder, "data")).mode & 0o777).toBe(0o700)
  expect(statSync(join(place.folder, "data/session-signing-key.json")).mode & 0o777).toBe(0o600)
  const second = startProgram([], { ...env, PORT: "0" })
  expect(await second.exited).toBe(1)
  expect(second.stderr()).toMatch(/another process uses the data folder/)
  const command = await operate(["agent", "list"], env)
  expect(command).toMatchObject({
    code: 1,
    json: { code: "data-folder-in-use", error: expect.stringMatching(/stop it/) },
  })
  first.program.kill("SIGTERM")
  expect(await first.program.exited).toBe(0)
  expect((await operate(["agent", "list"], env)).json).toEqual([])
})

test("kill -9 loses no confirmed write and frees the folder, and no key is on the disk", async () => {
  const first = await startReplica(env)
  const answer = (await (await first.signUp()).json()) as { api_key: string; slug: string }
  first.program.kill("SIGKILL")
  await first.program.exited
  const second = await startReplica(env)
  expect((await second.me(answer.api_key)).status).toBe(200)
  second.program.kill("SIGTERM")
  await second.program.exited
  const secret = answer.api_key.slice(7, 39)
  const files = filesBelow(place.folder)
  expect(files.some((file) => readFileSync(file).includes(answer.slug))).toBe(true)
  expect(files.filter((file) => readFileSync(file).includes(secret))).toEqual([])
})

test("a damaged database is named with its folder, and the next step is a backup", async () => {
  const first = await startReplica(env)
  first.program.kill("SIGTERM")
  await first.program.exited
  const files = join(place.folder, "data/database")
  // PGlite aborts, then throws an Error of its own, then an object that is no Error.
  const damages = [
    () => truncateSync(join(files, "global/pg_control"), 100),
    () => truncateSync(join(files, "PG_VERSION"), 0),
    () => chmodSync(join(files, "PG_VERSION"), 0),
  ]
  for (const damage of damages) {
    damage()
    const second = startProgram([], { ...env, PORT: "0" })
    expect(await second.exited).toBe(1)
    expect(JSON.parse(second.stderr())).toMatchObject({
      reason: `the embedded database in ${env["SVC_DATA_DIR"]} can't be opened`,
      setting: "SVC_DATA_DIR",
      next: expect.stringMatching(/restore a backup into a new folder/),
    })
  }
})

test("a folder that others can write to is closed before it is used", () => {
  const data = join(place.folder, "data")
  mkdirSync(data)
  chmodSync(data, 0o777)
  closeDataFolder(data)
  expect(statSync(data).mode & 0o777).toBe(0o700)
})

test("a folder shared by all users is rejected by name and left unchanged", async () => {
  const shared = join(place.folder, "shared")
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  const command = await operate(["agent", "list"], { SVC_DATA_DIR: shared })
  expect(command).toMatchObject({ code: 1, json: { code: "invalid-settings", error: expect.stringContaining(shared) } })
  const service = startProgram([], { SVC_DATA_DIR: shared, PORT: "0" })
  expect(await service.exited).toBe(1)
  expect(service.stderr()).toMatch(/SVC_DATA_DIR: every user of this machine can write to/)
  expect(statSync(shared).mode & 0o7777).toBe(0o1777)
  expect(readdirSync(shared)).toEqual([])
})

test("in production an embedded database is a warning, and samples are published and named only on request", async () => {
  const production = { ...env, NODE_ENV: "production" }
  const stacksOf = async (more: Readonly<Record<string, string>>) => {
    const service = await startTestService("embedded", { ...production, ...more })
    const { body } = await service.call("GET", "/api/registry")
    await service.close()
    return body.map(({ name }: { name: string }) => name).join(", ")
  }
  expect(await stacksOf({})).toBe("")
  const samples = "name-service, stake-accounts, token-swaps, transfers"
  expect(await stacksOf({ SVC_SAMPLE_STACKS: "true" })).toBe(samples)
  const { program } = await startReplica(production)
  program.kill("SIGTERM")
  await program.exited
  const warnings = program.stdout().match(/^.*"level":"warn".*$/gm) ?? []
  expect(warnings).toEqual([expect.stringContaining(`(${samples})`)])
  expect(warnings[0]).toContain("DATABASE_URL")
})

test("the local stream's stacks follow it to another port, and those of other streams stay", async () => {
  const sampled = { ...env, SVC_SAMPLE_STACKS: "true" }
  const urls = async (more: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
    const service = await startTestService("embedded", { ...sampled, ...more })
    const { body } = await service.call("GET", "/api/registry")
    await service.close()
    return Object.fromEntries(body.map((stack: Record<string, string>) => [stack["name"], stack["websocket_url"]]))
  }
  expect(await urls({})).toMatchObject({ transfers: "ws://127.0.0.1:4004/transfers" })
  const file = fileURLToPath(new URL("../stacks/name-service.stack.json", import.meta.url))
  const elsewhere = "wss://streams.example/name-service"
  await operate(["stack", "publish", file, "--name", "name-service", "--websocket-url", elsewhere], sampled)
  expect(await urls({ SVC_STREAM_URL: "ws://127.0.0.1:4104" })).toEqual({
    transfers: "ws://127.0.0.1:4104/transfers",
    "stake-accounts": "ws://127.0.0.1:4104/stake-accounts",
    "token-swaps": "ws://127.0.0.1:4104/token-swaps",
    "name-service": elsewhere,
  })
})

test("a half-created database is created again", async () => {
  const data = join(place.folder, "data")
  await operate(["migrate"], env)
  rmSync(join(data, "database.complete"))
  rmSync(join(data, "database/PG_VERSION"))
  expect(await operate(["agent", "list"], env)).toMatchObject({ code: 0, json: [] })
})

test("a folder's lock is free again after its holder ends, even in a deep folder", async () => {
  const deep = join(place.folder, "x".repeat(100), "y".repeat(100))
  mkdirSync(deep, { recursive: true })
  writeFileSync(join(deep, "deadbeef.lock.sock"), "")
  const held = await lockFolder(deep)
  await expect(lockFolder(deep)).rejects.toThrow(/another process/)
  held.release()
  ;(await lockFolder(deep)).release()
  expect(readdirSync(deep)).toEqual([])
})

test("of many processes that open the folder at once, only one has it at a time", async () => {
  const got = await Promise.allSettled(Array.from({ length: 10 }, () => lockFolder(place.folder)))
  const held = got.filter((result) => result.status === "fulfilled")
  expect(held.length).toBeLessThanOrEqual(1)
  for (const { value } of held) value.release()
})

test("the packed database fits the PGlite version and has all migrations; each unpacked one has its own secret", async () => {
  const ask = async (name: string, ...texts: readonly string[]): Promise<readonly unknown[]> => {
    const database = await openEmbeddedDatabase({ folder: join(place.folder, name), now: () => performance.now() })
    const answers = []
    for (const text of texts) answers.push(await database.within(60_000).query(text, []))
    await database.close()
    return answers
  }
  const system = `select current_setting('server_version') as version, count(*)
    from pg_proc where pronamespace = 'pg_catalog'::regnamespace`
  const secret = "select encode(secret, 'hex') as secret from key_secrets"
  const [ofSystem, packed, own] = await ask("one", system, "select hash from schema_migrations order by at", secret)
  const fresh = await PGlite.create()
  expect(ofSystem).toEqual((await fresh.query(system)).rows)
  await fresh.close()
  const migrations = readMigrationFiles({ migrationsFolder: join(import.meta.dirname, "../migrations") })
  const hashes = migrations.map(({ hash }) => ({ hash }))
  expect(packed).not.toEqual([])
  expect(packed).toEqual(hashes.slice(0, (packed as unknown[]).length))
  expect(own).toEqual([{ secret: expect.stringMatching(/^[0-9a-f]{64}$/) }])
  expect(await ask("two", secret)).not.toEqual([own])
})
