import { gzipSync } from "node:zlib"
import postgres from "postgres"
import { expect, test, vi } from "vitest"
import { maxListBytes } from "../src/registry/registry.ts"
import { field, withFields } from "./registry/small-ast.ts"
import { publishStack, startTestService, testService } from "./service.ts"

const full = process.env["SVC_FUZZ"] === "full"
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const limit = 20
const limited = { SVC_REGISTRY_REQUESTS_PER_MINUTE: String(limit) }
const service = testService("postgres", limited)
const start = () => startTestService("postgres", { DATABASE_URL: service.databaseUrl, ...limited })

const put = (name: string, fields: readonly object[], section?: string) =>
  publishStack(service, name, withFields(fields, section))
const reached = (path: string) =>
  expect.poll(async () => (await service.call("GET", path, { from: "192.0.2.99" })).status).toBe(200)

/** Does what must not wait for a table that nobody can read meanwhile. */
const without = async (tables: string, work: () => Promise<void>): Promise<void> => {
  const sql = postgres(service.databaseUrl, { max: 1 })
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(`lock table ${tables} in access exclusive mode`)
      await work()
    })
  } finally {
    await sql.end()
  }
}

const versionTables = "stacks, stack_versions, stack_modules"

test("reads past the limit ask nothing of the database", async () => {
  await put("bounded", [field("a", "u8")])
  await reached("/api/registry/bounded")
  const from = "192.0.2.1"
  for (let n = 0; n < limit; n++) await service.call("GET", "/api/registry/none", { from })
  const paths = (n: number) => [
    `/api/registry/bounded/versions?offset=${n}`,
    `/api/registry/bounded/schema?version=${n + 2}`,
    `/api/registry/stacks/bounded/ast?version=${n + 2}`,
    `/api/registry/bounded/diff?from=1&to=${n + 2}`,
    "/api/registry/bounded/diff",
    `/api/registry/bounded/types?version=${n + 2}`,
    `/api/registry/bounded/types?language=python`,
    `/api/registry?include=schema&limit=${(n % 100) + 1}`,
  ]
  await without(versionTables, async () => {
    for (let n = 0; n < (full ? 250 : 3); n++) {
      for (const path of paths(n)) {
        const headers = n % 2 === 0 ? {} : { "if-none-match": '"other"' }
        expect([path, (await service.call("GET", path, { from, headers })).status]).toEqual([path, 429])
      }
    }
  })
})

test("that a version is missing is remembered until the stack changes", async () => {
  const from = "192.0.2.2"
  const missing = async () => (await service.call("GET", "/api/registry/bounded/schema?version=2", { from })).status
  expect(await missing()).toBe(404)
  await without(versionTables, async () => {
    for (let n = 0; n < 3; n++) expect(await missing()).toBe(404)
  })
  await put("bounded", [field("a", "u8"), field("b", "u8")])
  await expect.poll(missing).toBe(200)
})

test("types are made once for a version, stored, and made anew for another name alone", async () => {
  const path = "/api/registry/bounded/types?language=python&version=1"
  const first = await service.call("GET", path, { from: "192.0.2.3" })
  expect(first.status).toBe(200)
  await without(versionTables, async () => {
    expect((await service.call("GET", path, { from: "192.0.2.3" })).body).toBe(first.body)
  })
  const stored = "select name, language, number from stack_modules where line = 'name:bounded'"
  expect(await service.database().query(stored, [])).toEqual([{ name: "bounded", language: "python", number: 1 }])
  // Another replica serves what is stored.
  await service.database().query("update stack_modules set gzip = $1", [gzipSync("hi")])
  const other = await start()
  expect((await other.call("GET", path, { from: "192.0.2.3" })).body).toBe("hi")
  await service.database().query("update stack_modules set name = 'former'", [])
  await other.close()
  const renamed = await start()
  expect((await renamed.call("GET", path, { from: "192.0.2.3" })).body).toBe(first.body)
  await renamed.close()
})

test("a list of large stacks ends early, and its Link leads through all of them", async () => {
  const fields = Array.from({ length: 7000 }, (_, n) => field(`f${n}`, "u8"))
  for (const name of ["wide-1", "wide-2", "wide-3"]) await put(name, fields, "s".repeat(100))
  await reached("/api/registry/wide-3")
  const names: string[] = []
  let pages = 0
  for (let path: string | undefined = "/api/registry?include=schema&q=wide&limit=100"; path !== undefined; pages++) {
    const { status, body, headers } = await service.call("GET", path, { from: "192.0.2.4" })
    expect(status).toBe(200)
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(maxListBytes)
    for (const { name, schema } of body) {
      names.push(name)
      expect(schema.entities[0].fields).toHaveLength(7000)
    }
    path = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1]
  }
  expect([names, pages]).toEqual([["wide-1", "wide-2", "wide-3"], 2])
  const heads = await service.call("GET", "/api/registry?q=wide", { from: "192.0.2.4" })
  expect([heads.body.length, heads.headers.get("link")]).toEqual([3, null])
})
