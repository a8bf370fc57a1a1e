// A backup is made, everything is destroyed, and the backup brings it back.
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createTestDatabase } from "@svc/testing"
import postgres from "postgres"
import { afterAll, expect, test, vi } from "vitest"
import { operate } from "./program.ts"
import { smallAst } from "./registry/small-ast.ts"
import { temporaryFolder } from "./service.ts"

vi.setConfig({ testTimeout: 180_000 })

const { folder, remove } = temporaryFolder()
afterAll(() => remove())
const astFile = join(folder, "small.json")
writeFileSync(astFile, JSON.stringify(smallAst()))

const fill = async (env: Record<string, string>) => {
  const publish = `stack publish ${astFile} --name small --websocket-url wss://streams.example/small`
  expect(await operate(publish.split(" "), env)).toMatchObject({ code: 0 })
  expect(await operate("user create --email a@example.com".split(" "), env)).toMatchObject({ code: 0 })
}
const state = async (env: Record<string, string>) => {
  const all: unknown[] = []
  // One after the other: an embedded database takes one process.
  for (const line of ["stack list", "audit list"]) all.push((await operate(line.split(" "), env)).json)
  return all
}

test("a server's database comes back from its backup, and only into an empty one", async () => {
  const database = await createTestDatabase()
  const env = { DATABASE_URL: database.url, SVC_DATA_DIR: join(folder, "unused") }
  const file = join(folder, "platform.dump")
  await fill(env)
  const before = await state(env)
  expect(await operate(["backup", file], env)).toMatchObject({ code: 0, json: { kind: "postgresql", file } })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await operate(["backup", file], env)).toMatchObject({ code: 1, json: { code: "file-exists" } })
  expect(await operate(["restore", file], env)).toMatchObject({ code: 1, json: { code: "database-not-empty" } })
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  await sql.unsafe("drop schema public cascade; create schema public").finally(() => sql.end())
  expect(await operate(["restore", astFile], env)).toMatchObject({ code: 1, json: { code: "tool-failed" } })
  expect(await operate(["restore", file], env)).toMatchObject({ code: 0, json: { restored: true } })
  expect(await state(env)).toEqual(before)
  await database.stop()
})

test("an embedded database comes back from its backup, and only into a folder without one", async () => {
  const data = join(folder, "data")
  const env = { SVC_DATA_DIR: data }
  const file = join(folder, "data.tar.gz")
  await fill(env)
  const before = await state(env)
  expect(await operate(["backup", file], env)).toMatchObject({ code: 0, json: { kind: "embedded" } })
  expect(await operate(["restore", file], env)).toMatchObject({ code: 1, json: { code: "database-not-empty" } })
  rmSync(data, { recursive: true })
  expect(await operate(["restore", astFile], env)).toMatchObject({ code: 1 })
  expect(existsSync(join(data, "database"))).toBe(false)
  expect(await operate(["restore", file], env)).toMatchObject({ code: 0, json: { restored: true } })
  expect(await state(env)).toEqual(before)
  expect(readdirSync(data).filter((name) => name.endsWith(".lock.sock"))).toEqual([])
})

test("a missing file, and a backup that can't be finished, leave nothing behind", async () => {
  const env = { DATABASE_URL: "postgres://127.0.0.1:9/none", SVC_DATA_DIR: join(folder, "none") }
  const lost = await operate(["backup", join(folder, "lost.dump")], env)
  expect(lost).toMatchObject({ code: 1, json: { code: "tool-failed" } })
  expect(readdirSync(folder).filter((name) => name.startsWith("lost"))).toEqual([])
  expect(await operate(["restore", join(folder, "missing")], env)).toMatchObject({ json: { code: "unreadable-file" } })
})
