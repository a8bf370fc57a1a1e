import { beforeAll, expect, test } from "vitest"
import document from "../openapi.json" with { type: "json" }
import { CompilerBusy, createCompiler } from "../src/compiler/compiler.ts"
import { deprecate, unpublish } from "../src/operator/publish.ts"
import { createRegistry } from "../src/registry/registry.ts"
import { createStackVersions } from "../src/registry/stack-versions.ts"
import { field, withFields } from "./registry/small-ast.ts"
import { besides, publishStack, reached, testService } from "./service.ts"
import { first, grown } from "./work/person.ts"

const broken = withFields([field("size", "Option < u64 >")])

const service = testService("postgres", { SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" })
beforeAll(async () => {
  for (const ast of [first, grown]) await put("orders", ast)
  await put("orders", broken, { allowBreaking: true, description: "Order books" })
  // Once it is seen, so is what came before it.
  await put("last", first)
  await reached(service, "/api/registry/last")
})

const put = (name: string, ast: unknown, more: object = {}) => publishStack(service, name, ast, more)
const get = (path: string) => service.call("GET", path)

test("are listed newest first, each with its effect on readers", async () => {
  const { status, body } = await get("/api/registry/orders/versions")
  expect(status).toBe(200)
  expect(body).toMatchObject([
    { version: 3, verdict: "breaking", bump: "major", changes: 2, current: true },
    { version: 2, verdict: "compatible", bump: "minor", changes: 1, current: false },
    { version: 1, verdict: "none", bump: "none", changes: 0, current: false },
  ])
  const missing = [await get("/api/registry/nothing/versions"), await get("/api/registry/Ordesr/versions")]
  expect(missing.map(({ code, body: { hint } }) => [code, hint])).toEqual([
    ["stack-not-found", "GET /api/registry lists the stacks."],
    ["stack-not-found", "Did you mean orders? GET /api/registry lists the stacks."],
  ])
})

test("anyone with a secret key can compare an AST with the published one, and nothing is stored", async () => {
  const { key } = await service.signUp()
  const check = (name: string, ast: unknown) =>
    service.call("POST", `/api/registry/${name}/check`, { key, body: { ast_payload: ast } })
  const same = await check("orders", broken)
  expect([same.status, same.headers.get("cache-control")]).toEqual([200, "no-store"])
  expect(same.body).toMatchObject({ version: 3, verdict: "none", bump: "none", changes: [] })
  expect(same.body.schema).toEqual((await get("/api/registry/orders/schema")).body.schema)
  expect((await check("ORDERS", first)).body).toMatchObject({ version: 3, verdict: "breaking", bump: "major" })
  expect((await check("nothing", grown)).body).toMatchObject({ version: null, verdict: "none", changes: [] })
  const wrong = await check("orders", { ...grown, entities: [{}] })
  expect([wrong.code, wrong.body.details.path]).toEqual(["invalid-request", expect.stringMatching(/^ast_payload\./)])
  expect(await service.code("POST", "/api/registry/orders/check", { body: {} })).toBe("missing-credentials")
  expect((await get("/api/registry/orders/versions")).body).toHaveLength(3)
})

test("stay readable as they were served: schema, AST and types", async () => {
  const old = await get("/api/registry/orders/schema?version=1")
  expect(old.body.schema.entities[0].fields.map(({ path }: { path: string }) => path)).toEqual(["id.address"])
  expect((await get("/api/registry/orders/schema?version=3")).body).toEqual(
    (await get("/api/registry/orders/schema")).body,
  )
  expect((await get("/api/registry/stacks/ORDERS/ast?version=2")).body.ast_payload).toEqual(grown)
  expect((await get("/api/registry/orders/types?version=2")).body).toContain("size: string")
  for (const path of ["schema?version=4", "schema?version=0", "types?version=99999999999", "diff?from=1&to=7"]) {
    expect((await get(`/api/registry/orders/${path}`)).code).toBe("version-not-found")
  }
  for (const path of [
    "schema?version=",
    "schema?version=x",
    "types?language=rust",
    "diff?from=-1",
    "versions?limit=0",
  ]) {
    expect((await get(`/api/registry/orders/${path}`)).code).toBe("invalid-request")
    // What the query asks for is looked at before there need be such a stack.
    expect((await get(`/api/registry/nothing/${path}`)).code).toBe("invalid-request")
  }
})

test("come in pages, each with a link to the next", async () => {
  const pages = await service.pages("/api/registry/orders/versions?limit=2")
  const numbers = pages.map(({ body }) => body.map(({ version }: { version: number }) => version))
  expect(numbers).toEqual([[3, 2], [1]])
  expect((await get("/api/registry/orders/versions?offset=3")).body).toEqual([])
})

test("differ as readers see it: by default the last two, or two named ones in either direction", async () => {
  const { body } = await get("/api/registry/orders/diff")
  expect(body).toMatchObject({ from: 2, to: 3, verdict: "breaking", bump: "major" })
  expect(body.changes.map((change: Record<string, unknown>) => [change["kind"], change["path"]])).toEqual([
    ["field-removed", "Thing.id.address"],
    ["field-changed", "Thing.id.size"],
  ])
  const between = async (from: number, to: number) =>
    (await get(`/api/registry/orders/diff?from=${from}&to=${to}`)).body
  expect(await between(1, 2)).toMatchObject({ verdict: "compatible", bump: "minor" })
  expect(await between(2, 1)).toMatchObject({ verdict: "breaking" })
  expect(await between(1, 1)).toEqual({ from: 1, to: 1, verdict: "none", bump: "none", changes: [] })
  expect((await get("/api/registry/orders/diff?to=2")).body).toMatchObject({ from: 1, to: 2 })
  const { parameters } = document.paths["/api/registry/{name}/diff"].get
  expect(parameters.find(({ name }) => name === "from")?.description).toContain("Default: the version before `to`")
})

test("have modules in each language, each with its media type, an ETag and stable bytes", async () => {
  for (const [language, type] of [
    ["typescript", "text/typescript; charset=utf-8"],
    ["json-schema", "application/schema+json"],
  ]) {
    const path = `/api/registry/orders/types?language=${language}`
    const { status, headers } = await get(path)
    expect([status, headers.get("content-type")]).toEqual([200, type])
    const again = await service.call("GET", path, { headers: { "if-none-match": headers.get("etag") ?? "" } })
    expect(again.status).toBe(304)
  }
})

test("continue their numbers after the stack was gone for a while", async () => {
  await put("shy", first)
  await unpublish(service.database(), "shy", new Date())
  expect(await put("shy", first)).toMatchObject({ status: "published", version: 2 })
  await expect.poll(async () => (await get("/api/registry/shy/versions")).body.length).toBe(2)
})

test("can be deprecated: readers see it in body and header until it is withdrawn", async () => {
  await put("ageing", first)
  const deprecated = async () => (await get("/api/registry/ageing")).body.deprecated
  const given = { message: "Moved", successor: "orders" }
  await deprecate(service.database(), "Ageing", given, new Date(1_700_000_000_000))
  await expect.poll(deprecated).toEqual({ ...given, since: "2023-11-14T22:13:20.000Z" })
  expect((await get("/api/registry/ageing/schema")).headers.get("deprecation")).toBe("@1700000000")
  await deprecate(service.database(), "ageing", undefined, new Date())
  await expect.poll(deprecated).toBeUndefined()
  await expect(deprecate(service.database(), "nothing", undefined, new Date())).rejects.toMatchObject({
    code: "stack-not-found",
  })
})

test("what a page's visitors ask for takes no places of the account that the page's key is of", async () => {
  const wide = (count: number) => withFields(Array.from({ length: count }, (_, n) => field(`f${n}`, "u8")))
  for (let n = 0; n < 3; n++) await put("visited", wide(3000 + n))
  const { key: owner } = await service.signUp()
  const key = await service.publishable(owner, ["https://app.example"])
  await reached(service, "/api/registry/visited/schema?version=3")
  const pairs = [1, 2, 3].flatMap((from) => [1, 2, 3].map((to) => `from=${from}&to=${to}`))
  const visits = pairs.map((pair, n) =>
    service.call("GET", `/api/registry/visited/diff?${pair}`, {
      key,
      from: `192.0.2.${n}`,
      headers: { origin: "https://app.example" },
    }),
  )
  expect((await Promise.all(visits)).map(({ status }) => status)).toEqual(pairs.map(() => 200))
})

test("a reader whose own work is too much doesn't fail others that ask for the same", async () => {
  const compiler = createCompiler({ deadlineMs: 60_000, now: () => performance.now() })
  const run: typeof compiler.run = (task, input, about) =>
    about.owner.name === "busy" ? Promise.reject(new CompilerBusy(true)) : compiler.run(task, input, about)
  await besides(service.databaseUrl, async (database) => {
    const registry = createRegistry(database)
    await registry.refresh()
    const stack = registry.find("public", "orders")
    if (stack === undefined) throw new Error("the stack is published")
    const versions = createStackVersions(database, { ...compiler, run })
    const ask = async (name: string) => {
      const found = versions.diff(stack, 1, 3, { name, group: name })
      return typeof found === "function" ? found() : found
    }
    const told = await Promise.allSettled(["busy", "idle", "busy", "idle"].map(ask))
    expect(told.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled", "fulfilled"])
  })
})
