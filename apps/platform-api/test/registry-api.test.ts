import { randomBytes } from "node:crypto"
import { gunzipSync } from "node:zlib"
import { mintKey } from "@svc/keys"
import { rawGet } from "@svc/testing"
import { describe, expect, test } from "vitest"
import { unpublish } from "../src/operator/publish.ts"
import { entity, field, smallAst, withFields } from "./registry/small-ast.ts"
import { beforeTests, publishStack, reached, testService } from "./service.ts"

describe("the registry", () => {
  const service = testService("postgres", { SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" })
  const agent = beforeTests(() => service.signUp())

  type Terms = Parameters<typeof publishStack>[3]
  const put = (name: string, more: Terms = {}, ast: unknown = smallAst()) => publishStack(service, name, ast, more)

  test("a new server's database has no stacks", async () => {
    expect((await service.call("GET", "/api/registry")).body).toEqual([])
  })

  test("a published stack is served within two seconds, under its name in any case, and removed as quickly", async () => {
    const first = { name: "orders", status: "published", version: 1 }
    expect(await put("Orders", { description: "Order books" })).toMatchObject(first)
    await reached(service, "/api/registry/orders")
    const { body } = await service.call("GET", "/api/registry/ORDERS")
    expect(body).toEqual({
      name: "orders",
      description: "Order books",
      websocket_url: "wss://streams.example/Orders",
      entities: ["Thing"],
      visibility: "public",
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      updated_at: expect.any(String),
      version: 1,
      relay: false,
    })
    await unpublish(service.database(), "ORDERS", new Date())
    await reached(service, "/api/registry/orders", 404)
    expect(await service.code("GET", "/api/registry/orders/schema")).toBe("stack-not-found")
    expect(await service.code("GET", "/api/registry/stacks/orders/ast")).toBe("stack-not-found")
  })

  test("publishing the same AST changes nothing; another AST is the next version", async () => {
    await put("versions")
    expect(await put("versions")).toMatchObject({ status: "unchanged", version: 1 })
    const ast = smallAst({ entities: [entity("Other")] })
    await expect(put("versions", {}, ast)).rejects.toMatchObject({ code: "breaking-change" })
    const next = { status: "published", version: 2, entities: ["Other"] }
    expect(await put("versions", { allowBreaking: true }, ast)).toMatchObject(next)
  })

  test("schema and AST are those that were published, with derived members", async () => {
    const ast = withFields([field("address", "Option<String>")])
    await put("coins", {}, ast)
    await reached(service, "/api/registry/coins")
    const { body } = await service.call("GET", "/api/registry/coins/schema")
    expect(body).toEqual({
      name: "coins",
      description: null,
      websocket_url: "wss://streams.example/coins",
      schema: {
        stack_name: "SmallStream",
        entities: [
          {
            name: "Thing",
            primary_keys: ["id.address"],
            fields: [{ path: "id.address", rust_type: "String", nullable: true, section: "id" }],
            views: [
              { id: "Thing/state", mode: "state", needs_key: true, key_field: "id.address", sort: null, pipeline: [] },
              { id: "Thing/list", mode: "list", needs_key: false, key_field: "id.address", sort: null, pipeline: [] },
            ],
          },
        ],
        types: [],
      },
    })
    const stored = await service.call("GET", "/api/registry/stacks/Coins/ast")
    expect(stored.body).toMatchObject({ name: "coins", stack: "SmallStream", visibility: "public", ast_payload: ast })
    const list = await service.call("GET", "/api/registry?include=schema&q=coins")
    expect(list.body[0].schema).toEqual(body.schema)
  })

  test("lists are sorted by name, searchable by name and description, and paged with Link", async () => {
    for (const name of ["page-c", "page-a", "page-b"])
      await put(name, { description: `Sheet of ${name.toUpperCase()}` })
    await reached(service, "/api/registry/page-b")
    const names = async (query: string) =>
      (await service.pages(`/api/registry?${query}`)).map(({ body }) => body.map(({ name }: { name: string }) => name))
    expect(await names("q=PAGE-")).toEqual([["page-a", "page-b", "page-c"]])
    expect(await names("q=sheet%20OF&limit=2")).toEqual([["page-a", "page-b"], ["page-c"]])
    expect(await names("q=page-&offset=1000000")).toEqual([[]])
  })

  test("a valid key also shows global stacks; private ones are shown to nobody", async () => {
    await put("for-members", { visibility: "global" })
    await put("for-nobody", { visibility: "private" })
    // The last: once it is seen, so are those before it.
    await put("for-all")
    await reached(service, "/api/registry/for-all")
    const seen = async (name: string, given?: string) => {
      const { status: told, headers } = await service.call("GET", `/api/registry/${name}`, { key: given })
      return [told, headers.get("x-auth-ignored")]
    }
    expect(await seen("for-members")).toEqual([404, null])
    expect(await seen("for-members", agent.key)).toEqual([200, null])
    expect(await seen("for-members", mintKey("ak", randomBytes, randomBytes(32)))).toEqual([404, "invalid-api-key"])
    expect(await seen("for-all", "nonsense")).toEqual([200, "invalid-api-key"])
    for (const given of [undefined, agent.key]) expect((await seen("for-nobody", given))[0]).toBe(404)
    const listed = async (given?: string) => {
      const { body } = await service.call("GET", "/api/registry?q=for-", { key: given })
      return body.map(({ name }: { name: string }) => name)
    }
    expect(await listed()).toEqual(["for-all"])
    expect(await listed(agent.key)).toEqual(["for-all", "for-members"])
  })

  test("a publishable key does so only on its own pages", async () => {
    const key = await service.publishable(agent.key, ["https://app.example"])
    await put("for-members", { visibility: "global" })
    await reached(service, "/api/registry/for-all")
    const ask = async (origin: string) => {
      const { status: told, headers } = await service.call("GET", "/api/registry/for-members", {
        key,
        headers: { origin },
      })
      return [told, headers.get("x-auth-ignored"), headers.get("access-control-allow-origin")]
    }
    expect(await ask("https://app.example")).toEqual([200, null, "*"])
    expect(await ask("https://evil.example")).toEqual([404, "origin-not-allowed", "*"])
  })

  test("each encoding has its own strong ETag, any of them validates, and the content is the same", async () => {
    await put("tags")
    await reached(service, "/api/registry/tags")
    for (const path of ["", "/tags", "/tags/schema", "/stacks/tags/ast"]) {
      const ask = (headers = {}) => rawGet(service.url, `/api/registry${path}`, headers)
      const one = await ask()
      const packed = await ask({ "accept-encoding": "br, gzip" })
      expect(one.headers["content-encoding"]).toBeUndefined()
      expect(packed.headers["content-encoding"]).toBe("gzip")
      expect(gunzipSync(packed.body).equals(one.body)).toBe(true)
      const tags = [one.headers["etag"], packed.headers["etag"]].map(String)
      expect(new Set(tags).size).toBe(2)
      for (const tag of tags) {
        expect(tag).toMatch(/^"[^"]+"$/)
        for (const given of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
          const { status: told, body } = await ask({ "if-none-match": given, "accept-encoding": "gzip" })
          expect([told, body.length]).toEqual([304, 0])
        }
      }
      expect((await ask({ "if-none-match": '"other"' })).status).toBe(200)
      expect((await ask({ "accept-encoding": "gzip;q=0" })).headers["content-encoding"]).toBeUndefined()
    }
  })

  test("responses are cacheable for a minute, privately with Authorization; errors are never cached", async () => {
    await put("cached")
    await reached(service, "/api/registry/cached")
    const cache = async (path: string, given?: string) => {
      const { headers } = await service.call("GET", path, { key: given })
      expect(headers.get("vary")).toBe("Authorization, Origin, Accept-Encoding")
      return headers.get("cache-control")
    }
    expect(await cache("/api/registry/cached")).toBe("public, max-age=60, stale-while-revalidate=600")
    for (const given of [agent.key, "nonsense"])
      expect(await cache("/api/registry/cached", given)).toBe("private, no-cache")
    expect(await cache("/api/registry/none")).toBe("no-store")
  })
})

describe("the registry's limits", () => {
  const service = testService("postgres", {
    SVC_SAMPLE_STACKS: "true",
    SVC_REGISTRY_REQUESTS_PER_MINUTE: "3",
    SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE: "5",
  })

  test("an address has a limit of reads per minute in every response; missing stacks count, 304 doesn't", async () => {
    const from = "192.0.2.1"
    const ask = (path: string, headers = {}) => service.call("GET", path, { from, headers })
    const first = await ask("/api/registry")
    expect(first.headers.get("ratelimit-policy")).toBe('"default";q=3;w=60')
    expect(first.headers.get("ratelimit")).toMatch(/^"default";r=2;t=(59|60)$/)
    expect((await ask("/api/registry/none")).headers.get("ratelimit")).toMatch(/^"default";r=1;/)
    const tag = first.headers.get("etag") ?? ""
    for (let i = 0; i < 5; i++) expect((await ask("/api/registry", { "if-none-match": tag })).status).toBe(304)
    expect((await ask("/api/registry")).status).toBe(200)
    const refused = await ask("/api/registry")
    expect([refused.status, refused.code]).toEqual([429, "rate-limit-exceeded"])
    expect(refused.headers.get("ratelimit")).toMatch(/^"default";r=0;/)
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50)
    expect((await ask("/api/registry", { "if-none-match": tag })).status).toBe(304)
    expect((await service.call("GET", "/api/registry", { from: "192.0.2.2" })).status).toBe(200)
    service.clock.offsetMs += 62_000
    expect((await ask("/api/registry")).status).toBe(200)
  })

  test("a key has its own larger limit from any address; a failing key uses its address's limit", async () => {
    const { key } = await service.signUp()
    for (let i = 0; i < 5; i++) {
      const { status, headers } = await service.call("GET", "/api/registry", { key, from: `192.0.3.${i}` })
      expect([status, headers.get("ratelimit-policy")]).toEqual([200, '"default";q=5;w=60'])
    }
    expect((await service.call("GET", "/api/registry", { key, from: "192.0.3.99" })).status).toBe(429)
    const bad = await service.call("GET", "/api/registry", { key: "nonsense", from: "192.0.4.1" })
    expect(bad.headers.get("ratelimit-policy")).toBe('"default";q=3;w=60')
  })

  test("a page's key has that limit for each address, so that no visitor uses up what the others need", async () => {
    const { key: owner } = await service.signUp()
    const key = await service.publishable(owner, ["https://app.example"])
    const read = (from: string) =>
      service.call("GET", "/api/registry", { key, from, headers: { origin: "https://app.example" } })
    for (let i = 0; i < 5; i++) expect((await read("192.0.5.1")).status).toBe(200)
    expect((await read("192.0.5.1")).status).toBe(429)
    const other = await read("192.0.5.2")
    expect([other.status, other.headers.get("ratelimit-policy")]).toEqual([200, '"default";q=5;w=60'])
  })
})
