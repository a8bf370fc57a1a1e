import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { type Reply, serve, startServer } from "./server.ts"
import { expectError, json, makeTool } from "./tool.ts"

const schemaOf = (name: string) => ({
  stack_name: name,
  entities: [
    {
      name: "Round",
      primary_keys: ["id.round_id"],
      fields: [
        { path: "id.round_id", rust_type: "u64", nullable: false, section: "id" },
        { path: "results.winner", rust_type: "Option<Pubkey>", nullable: true, section: "results" },
      ],
      views: [
        { id: "Round/state", mode: "state", needs_key: true, key_field: "id.round_id", sort: null, pipeline: [] },
        { id: "Round/latest", mode: "list", needs_key: false, key_field: null, pipeline: [{ sort: "desc" }] },
      ],
    },
    { name: "Miner", primary_keys: ["id.authority"], fields: [], views: [] },
  ],
  types: [
    { name: "Side", kind: "enum", variants: ["Left", "Right"] },
    { name: "Stake", kind: "struct", fields: [{ name: "amount", type: "u64" }] },
  ],
})

const stackOf = (name: string) => ({
  name,
  description: `The ${name} stack`,
  websocket_url: `wss://${name}.example`,
  entities: ["Round", "Miner"],
  visibility: "public",
  ...(name === "swaps" && { deprecated: { message: "Ends soon.", since: "2026-01-01T00:00:00.000Z" } }),
  schema: schemaOf(name),
  content_hash: "00",
  updated_at: "2026-01-01T00:00:00.000Z",
})

const names = ["airdrops", "mining", "name-service", "swaps", "transfers"]

const answer = ({ target }: { readonly target: string }): Reply => {
  const { pathname, searchParams } = new URL(target, "http://server")
  if (pathname === "/api/registry") {
    const offset = Number(searchParams.get("offset") ?? 0)
    const page = names.slice(offset, offset + 2)
    const stacks = page.map((name) => {
      const { schema: _schema, ...rest } = stackOf(name)
      return searchParams.get("include") === "schema" ? stackOf(name) : rest
    })
    searchParams.set("offset", String(offset + 2))
    // The server may know itself by another URL.
    const link = `<https://elsewhere.example/api/registry?${searchParams.toString()}>; rel="next"`
    return { body: stacks, headers: offset + 2 < names.length ? { link } : {} }
  }
  const name = /^\/api\/registry\/([^/]+)\/schema$/.exec(pathname)?.[1] ?? ""
  if (!names.includes(name)) return { status: 404, body: { error: "No such stack.", code: "stack-not-found" } }
  const { description, websocket_url, schema } = stackOf(name)
  return {
    headers: { "content-encoding": "gzip" },
    body: gzipSync(JSON.stringify({ name, description, websocket_url, schema })),
  }
}

const tool = await makeTool()
const api = await startServer(answer)

const explore = (...args: string[]) => tool.svc(["explore", ...args], { env: { SVC_API_URL: api.url } })

test("explore --json prints the schemas of all pages of the registry, ignoring the host in the server's links", async () => {
  const ended = await explore("--json")
  expect(ended).toMatchObject({ code: 0, stderr: "" })
  expect(json(ended)).toEqual({
    registry: names.map((name) => {
      const { content_hash: _hash, updated_at: _time, ...shown } = stackOf(name)
      return shown
    }),
  })
})

test("explore shows how many records the copy's stream server has now, and calls no other host", async () => {
  const stranger = await serve(() => ({ body: {} }))
  const copy = await serve(({ target }): Reply => {
    if (target === "/health") return { body: { stacks: { mining: { entities: { Round: 3, Miner: 4 } } } } }
    const urls = { mining: `ws://${new URL(copy.url).host}/mining`, swaps: `ws://${new URL(stranger.url).host}/swaps` }
    return { body: Object.entries(urls).map(([name, websocket_url]) => ({ name, websocket_url, entities: [] })) }
  })
  await writeFile(
    join(tool.home, "copy.json"),
    JSON.stringify({ api_url: copy.url, stream_url: copy.url.replace("http", "ws") }),
  )
  expect(json(await tool.svc(["explore", "--json"]))).toEqual({
    registry: [
      { name: "mining", websocket_url: expect.any(String), entities: [], records: { Round: 3, Miner: 4 } },
      { name: "swaps", websocket_url: expect.any(String), entities: [] },
    ],
  })
  expect((await tool.svc(["explore"])).stdout).toMatch(/^STACK +RECORDS NOW .*\nmining +7 /)
  expect(stranger.received).toEqual([])
  await rm(join(tool.home, "copy.json"))
})

test("explore <stack> --json prints the stack with its schema from one request, whatever the name's case", async () => {
  api.received.length = 0
  const ended = await explore("Mining", "--json")
  const { name, description, websocket_url, schema } = stackOf("mining")
  expect(json(ended)).toEqual({ name, description, websocket_url, schema })
  expect(api.received.map(({ target }) => target)).toEqual(["/api/registry/mining/schema"])
})

test("an unknown stack or entity fails with its code, the nearest names and the next command", async () => {
  const first = /Nearest: transfers, .*Next: svc explore transfers$/
  expectError(await explore("tranfsers", "--json"), "stack-not-found", first)
  const next = /Nearest: Miner, Round\. Next: svc explore mining Miner$/
  expectError(await explore("mining", "mner", "--json"), "entity-not-found", next)
})

test("a name with path segments never leads out of the registry", async () => {
  api.received.length = 0
  for (const name of ["..", "../agents/me", "a/b", "%2e%2e", "a?b", ""]) {
    expect((await explore(name, "--json")).code).not.toBe(0)
  }
  expect(new Set(api.received.map(({ target }) => target.replace(/\?.*/, "")))).toEqual(new Set(["/api/registry"]))
})

test("for people there are tables of stacks, fields, types, views and nullable fields", async () => {
  const list = await explore()
  expect(list.stdout).toMatch(/^swaps \(deprecated\) +Round, Miner/m)
  expect(list.stdout).toMatch(/^STACK +ENTITIES +WEBSOCKET URL +DESCRIPTION\nairdrops +Round, Miner +wss:\/\/airdrops/)
  const { stdout } = await explore("mining")
  expect(stdout).toMatch(/FIELD +TYPE +NULLABLE\nid\.round_id +u64 +no\nresults\.winner +Option<Pubkey> +yes\n/)
  expect(stdout).toMatch(
    /VIEW +MODE +KEY +PIPELINE\nRound\/state +state +id\.round_id \(required\)\nRound\/latest +list +sort\(desc\)\n/,
  )
  expect(stdout).toMatch(/Side +enum +Left, Right\nStake +struct +amount +u64\n/)
  expect((await explore("mining", "miner")).stdout).toContain("Primary keys: id.authority")
})

test("an endless registry is rejected with a reason after a limited number of pages", async () => {
  const endless = await serve(() => ({
    body: [stackOf("a")],
    headers: { link: '</api/registry?p=1>; rel="next"' },
  }))
  expectError(await tool.svc(["explore", "--json", "--api-url", endless.url]), "unexpected-answer", "1000 pages")
  expect(endless.received.length).toBe(1000)
})

test("400,000 stacks on one page can be read", async () => {
  const many = await serve(() => ({
    body: JSON.stringify(Array.from({ length: 400_000 }, () => ({ name: "a" }))),
  }))
  const ended = await tool.svc(["explore", "--json", "--api-url", many.url])
  expect(ended).toMatchObject({ code: 0, stderr: "" })
})

test("a name of 10 MB is truncated in tables and never suggested, within the memory of a small machine", async () => {
  const name = "a".repeat(10 * 1024 * 1024)
  const long = await serve(({ target }) =>
    target.startsWith("/api/registry?")
      ? { body: [stackOf("short"), { ...stackOf("long"), name }] }
      : { status: 404, body: { code: "stack-not-found", error: "No such stack." } },
  )
  const env = { SVC_API_URL: long.url, NODE_OPTIONS: "--max-old-space-size=100" }
  const listed = await tool.svcProcess(["explore"], { env })
  expect(listed).toMatchObject({ code: 0, stderr: "" })
  expect(listed.stdout.length).toBeLessThan(10_000)
  const missed = await tool.svcProcess(["explore", "other"], { env })
  expect(missed.code).toBe(1)
  expect(missed.stderr).toMatch(/Nearest: short\. Next: svc explore short \(stack-not-found\)/)
})

test("if the registry ignores the key, standard error says so and the result stays the same", async () => {
  const server = await serve(() => ({ body: [], headers: { "x-auth-ignored": "expired-api-key" } }))
  const env = { SVC_API_URL: server.url, SVC_API_KEY: "svc_ak_expired" }
  const ended = await tool.svc(["explore", "--json"], { env })
  expect(json(ended)).toEqual({ registry: [] })
  expect(ended.stderr).toMatch(/expired-api-key.*svc auth status/)
  expect(server.received[0]?.headers.authorization).toBe("Bearer svc_ak_expired")
})
