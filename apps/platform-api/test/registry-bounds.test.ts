import { gzipSync } from "node:zlib"
import { full } from "@svc/testing"
import { expect, test } from "vitest"
import { maxListBytes } from "../src/registry/registry.ts"
import { loadStacks } from "./large-database.ts"
import { field, withFields } from "./registry/small-ast.ts"
import { publishStack, serviceInTest, testService } from "./service.ts"
import { withSql } from "./with-sql.ts"

const limit = 20
const limited = { SVC_REGISTRY_REQUESTS_PER_MINUTE: String(limit) }
const service = testService("postgres", limited)
const start = () => serviceInTest("postgres", { DATABASE_URL: service.databaseUrl, ...limited })

const put = (name: string, fields: readonly object[], section?: string) =>
  publishStack(service, name, withFields(fields, section))
let asked = 0
// Each time from another address, as one has few reads.
const reached = (path: string, at = service) =>
  expect.poll(async () => (await at.call("GET", path, { from: `198.51.100.${asked++ % 250}` })).status).toBe(200)

/** Does what must not wait for tables that nobody can read meanwhile. */
const withoutVersions = (work: () => Promise<void>) =>
  withSql(service.databaseUrl, (sql) =>
    sql.begin(async (tx) => {
      await tx.unsafe("lock table stacks, stack_versions, stack_modules in access exclusive mode")
      await work()
    }),
  )

test("reads above the limit don't query the database", async () => {
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
    `/api/registry/bounded/types?language=json-schema`,
    `/api/registry?include=schema&limit=${(n % 100) + 1}`,
  ]
  await withoutVersions(async () => {
    for (let n = 0; n < (full ? 250 : 3); n++) {
      for (const path of paths(n)) {
        const headers = n % 2 === 0 ? {} : { "if-none-match": '"other"' }
        expect([path, (await service.call("GET", path, { from, headers })).status]).toEqual([path, 429])
      }
    }
  })
})

test("a missing version is remembered until the stack changes", async () => {
  const from = "192.0.2.2"
  const missing = async () => (await service.call("GET", "/api/registry/bounded/schema?version=2", { from })).status
  expect(await missing()).toBe(404)
  await withoutVersions(async () => {
    for (let n = 0; n < 3; n++) expect(await missing()).toBe(404)
  })
  await put("bounded", [field("a", "u8"), field("b", "u8")])
  await reached("/api/registry/bounded/schema?version=2")
})

test("types are generated once per version, stored, and generated again only for another name", async () => {
  const path = "/api/registry/bounded/types?language=typescript&version=1"
  const first = await service.call("GET", path, { from: "192.0.2.3" })
  expect(first.status).toBe(200)
  await withoutVersions(async () => {
    expect((await service.call("GET", path, { from: "192.0.2.3" })).body).toBe(first.body)
  })
  const stored = "select name, language, number from stack_modules where line = 'name:bounded'"
  expect(await service.database().query(stored, [])).toEqual([{ name: "bounded", language: "typescript", number: 1 }])
  // Another replica serves what is stored.
  await service.database().query("update stack_modules set gzip = $1", [gzipSync("hi")])
  const other = await start()
  expect((await other.call("GET", path, { from: "192.0.2.3" })).body).toBe("hi")
  await service.database().query("update stack_modules set name = 'former'", [])
  const renamed = await start()
  expect((await renamed.call("GET", path, { from: "192.0.2.3" })).body).toBe(first.body)
})

test("a list of large stacks ends early, and its Link leads through all of them", async () => {
  const fields = Array.from({ length: 7000 }, (_, n) => field(`f${n}`, "u8"))
  for (const name of ["wide-1", "wide-2", "wide-3"]) await put(name, fields, "s".repeat(100))
  await reached("/api/registry/wide-3")
  const pages = await service.pages("/api/registry?include=schema&q=wide&limit=100", { from: "192.0.2.4" })
  for (const { status, body } of pages) {
    expect(status).toBe(200)
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(maxListBytes)
    for (const { schema } of body) expect(schema.entities[0].fields).toHaveLength(7000)
  }
  const names = pages.map(({ body }) => body.map(({ name }: { name: string }) => name))
  expect(names.map(({ length }) => length)).toEqual([2, 1])
  expect(names.flat()).toEqual(["wide-1", "wide-2", "wide-3"])
  const heads = await service.call("GET", "/api/registry?q=wide", { from: "192.0.2.4" })
  expect([heads.body.length, heads.headers.get("link")]).toEqual([3, null])
})

test("a registry with more stacks than one read returns is complete after a start and after a publication", async () => {
  await put("many", [field("a", "u8")])
  await loadStacks(service.databaseUrl, 130, "many")
  const second = await start()
  const names = async () => {
    const pages = await second.pages("/api/registry?limit=100&q=many", { from: "192.0.2.5" })
    return pages.flatMap(({ body }) => body.map(({ name }: { name: string }) => name))
  }
  expect(await names()).toEqual(["many", ...Array.from({ length: 129 }, (_, i) => `many-${i + 1}`)].toSorted())
  await publishStack(second, "many-more")
  await reached("/api/registry/many-more", second)
  expect(await names()).toHaveLength(131)
})
