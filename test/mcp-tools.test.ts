// What an agent does from its first day on, by the tools of svc mcp alone.
// @module-tag long
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createRandom } from "@svc/testing"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { type McpClient, startMcp } from "../apps/cli/test/mcp-client.ts"
import { runProgram } from "../apps/cli/test/tool.ts"
import { auctions } from "./journey/auctions.ts"
import { makeOwner, ownerKeyFile } from "./journey/owner.ts"
import { createWallet } from "@svc/testing/wallet"
import { testInstance } from "./start-service.ts"

const tool = join(import.meta.dirname, "../apps/cli/dist/svc.mjs")

const instance = testInstance(undefined, makeOwner)
let config: string
let env: Record<string, string>
/** A home in which nothing but the copy's URLs is known. Returns its environment. */
const makeHome = async (home: string) => {
  await mkdir(join(home, "config/svc"), { recursive: true })
  await writeFile(join(home, "config/svc/config.json"), config)
  return { HOME: home, XDG_CONFIG_HOME: join(home, "config") }
}
let wallet: Awaited<ReturnType<typeof createWallet>>
let mcp: McpClient
/** With a home of its own, for the twelve tasks. */
let agent: McpClient | undefined
beforeAll(async () => {
  const { apiUrl, docsUrl, relayUrl, streamUrl, chainUrl, folder } = instance
  // As the tarball of this copy brings it.
  const urls = { api_url: apiUrl, docs_url: docsUrl, relay_url: relayUrl, stream_url: streamUrl }
  config = JSON.stringify({ contexts: { one: urls }, current: "one" })
  env = await makeHome(folder)
  wallet = await createWallet(chainUrl)
  await wallet.fund(2_000_000_000n)
  mcp = await startMcp(tool, env)
})
afterAll(async () => {
  await mcp?.close()
  await agent?.close()
})

const writeJson = async (name: string, value: unknown): Promise<string> => {
  await writeFile(join(instance.folder, name), JSON.stringify(value))
  return join(instance.folder, name)
}

/** The keys that were stored at any time; none of them may ever be told. */
const keys = new Set<string>()
const remember = async (home = "") => {
  const stored = await readFile(join(instance.folder, home, "config/svc/credentials.json"), "utf8")
  for (const key of stored.match(/svc_[a-z]+_\w+/g) ?? []) keys.add(key)
}

const changesIn = ({ changes }: Record<string, unknown>) =>
  z.array(z.object({ op: z.string(), key: z.string(), record: z.unknown() })).parse(changes)

test("an agent signs up; its key is stored and not shown", async () => {
  expect(await mcp.call("account")).toMatchObject({ status: "signed-out" })
  const account = await mcp.call("account", { sign_up: true })
  const number = expect.any(Number)
  expect(account).toMatchObject({
    status: "active",
    slug: expect.stringMatching(/^agt_/),
    key: { id: number, expires_at: null },
    limits: { registry_requests_per_minute: number, registry_requests_left: number, sessions_per_minute: number },
    copy: { api_url: instance.apiUrl, relay_url: instance.relayUrl, faucet: expect.stringContaining("requestAirdrop") },
  })
  await remember()
  expect(keys.size).toBe(1)
  expect(await mcp.call("account", { sign_up: true })).toMatchObject({ slug: account["slug"] })
})

test("it finds data, waits for a change that matches a condition, and filters records by one", async () => {
  // The stream may not have read the first block yet.
  const found = () => mcp.call("list_stacks", { query: "transfers" })
  await expect.poll(found).toMatchObject({ stacks: [{ name: "transfers", has_data: true }] })
  const { entities } = await mcp.call("describe_stack", { stack: "transfers", entity: "SolTransfer" })
  expect(entities).toMatchObject([{ name: "SolTransfer", views: expect.any(Array) }])
  const [{ fields = {} } = {}] = entities as { fields?: Record<string, string> }[]
  const lamports = Object.keys(fields).find((path) => path.endsWith("lamports")) ?? ""
  let isFunded = false
  const waited = await mcp.call(
    "wait_for_change",
    {
      stack: "transfers",
      view: "SolTransfer/list",
      where: [{ field: lamports, op: "eq", value: "1234567890" }],
    },
    {
      onprogress: () => {
        if (!isFunded) void wallet.fund(1_234_567_890n)
        isFunded = true
      },
    },
  )
  const [change] = changesIn(waited)
  expect(change).toMatchObject({ op: "upsert", key: expect.any(String), record: expect.any(Object) })
  const where = [{ field: lamports, op: "gte", value: 1_234_567_890 }]
  const read = await mcp.call("read_view", {
    stack: "transfers",
    view: "SolTransfer/list",
    where,
    fields: [lamports],
  })
  expect(read["records"]).toEqual(expect.arrayContaining([{ key: change?.key, record: { [lamports]: "1234567890" } }]))
  const wrong = { stack: "transfers", view: "SolTransfer/list" }
  const none = { records: [], next: expect.any(String) }
  const unmatched = [{ field: lamports, op: "eq", value: 1 }]
  for (const [args, hint] of [
    [{ ...wrong, where: unmatched }, /^None of its \d+ records fulfils where/],
    [{ ...wrong, view: "Wallet/state", key: " a\u00a0" }, /white space around it: pass "a" if/],
    [{ stack: "name-service" }, /^NameRecord\/recent has no records now: wait_for_change/],
  ] as const)
    expect(await mcp.call("read_view", args)).toMatchObject({ ...none, hint: expect.stringMatching(hint) })
  const lacking = [{ field: "nothing", op: "eq", value: 1 }]
  expect(await mcp.fails("read_view", { ...wrong, where: lacking })).toMatchObject({ code: "field-not-found" })
  expect(await mcp.fails("read_view", { ...wrong, fields: ["nothing"] })).toMatchObject({ code: "field-not-found" })
  const unfit = [{ field: lamports, op: "gt", value: "0.5 SOL" }]
  for (const name of ["read_view", "wait_for_change"])
    expect(await mcp.fails(name, { ...wrong, where: unfit })).toMatchObject({
      code: "invalid-where",
      message: expect.stringMatching(/lamports.*u64.*0\.5 SOL/),
    })
  const never = { ...wrong, where: [{ field: lamports, op: "eq", value: 1 }], timeout_seconds: 1 }
  expect(await mcp.call("wait_for_change", never)).toEqual({
    view: "SolTransfer/list",
    changes: [],
    next: expect.any(String),
    timed_out: true,
  })
})

test("of 1,000 changes with calls at any time between them, each is reported once", async () => {
  const view = { stack: "transfers", view: "SolTransfer/list" }
  const fields = ["amount.lamports"]
  const { next } = createRandom()
  const amounts = Array.from({ length: 1000 }, (_, index) => 7_000_000 + index)
  let { next: after } = await mcp.call("read_view", { ...view, limit: 1 })
  const heard: number[] = []
  const where = [
    { field: "amount.lamports", op: "gte", value: 7_000_000 },
    { field: "amount.lamports", op: "lt", value: "7001000" },
  ]
  const left = [...amounts]
  while (heard.length < amounts.length) {
    // Some come between two calls, some while one waits.
    const now = left.splice(0, Math.floor(next() * 100))
    const funded = Promise.all(now.map((amount) => wallet.fund(BigInt(amount))))
    if (next() < 0.5) await funded
    const waited = await mcp.call("wait_for_change", { ...view, where, after, timeout_seconds: 1 })
    for (const { record } of changesIn(waited)) heard.push(Number(Object(record).amount.lamports))
    after = waited["next"]
    await funded
  }
  expect(heard.toSorted((a, b) => a - b)).toEqual(amounts)
  const sort = { field: "amount.lamports", order: "desc" }
  const { records } = await mcp.call("read_view", { ...view, where, sort, fields, limit: 3 })
  expect(records).toMatchObject(
    [7_000_999, 7_000_998, 7_000_997].map((amount) => ({ record: { [fields[0] ?? ""]: String(amount) } })),
  )
  // More views than are kept while nobody asks for them.
  const waits = Array.from({ length: 10 }, (_, index) =>
    mcp.call("wait_for_change", { ...view, view: "Wallet/state", key: `${index}`, timeout_seconds: 1 }),
  )
  for (const waited of await Promise.all(waits)) expect(waited).toMatchObject({ changes: [], timed_out: true })
  for (const wrong of ["x", "x.1", `${String(after)}0`])
    expect(await mcp.fails("wait_for_change", { ...view, after: wrong })).toMatchObject({
      code: "invalid-cursor",
      hint: expect.stringContaining("same view and key"),
    })
  const unknown = { sort: { field: "amount.lamport" } }
  expect(await mcp.fails("read_view", { ...view, ...unknown })).toMatchObject({ code: "field-not-found" })
})

test("a wait ends at once if it is cancelled or the client disconnects", async () => {
  const leaving = new AbortController()
  const waiting = mcp.callTool(
    "wait_for_change",
    { stack: "transfers", view: "SolTransfer/list", timeout_seconds: 300 },
    { signal: leaving.signal, onprogress: () => leaving.abort() },
  )
  expect(await waiting.catch(() => "cancelled")).toBe("cancelled")
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "gone", version: "1" } }
  const call = { name: "wait_for_change", arguments: { stack: "transfers", timeout_seconds: 300 } }
  const lines = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: call },
  ]
  const stdin = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  expect(await runProgram(process.execPath, [tool, "mcp"], { env, stdin })).toMatchObject({ code: 0 })
})

test("with a person's key it publishes once, and gets notified of it", async () => {
  const ast_path = await writeJson("first.json", auctions.first)
  expect(await mcp.fails("publish_stack", { stack: "my-auctions", ast_path })).toMatchObject({
    code: "missing-credentials",
  })
  const key = await readFile(ownerKeyFile(instance.folder), "utf8")
  expect(await runProgram(process.execPath, [tool, "auth", "login"], { env, stdin: key })).toMatchObject({ code: 0 })
  await remember()
  const { next } = await mcp.call("list_changes")
  const hearing = mcp.call("list_changes", { after: next, timeout_seconds: 60 })
  const first = await mcp.call("publish_stack", { stack: "my-auctions", ast_path, message: "The first one" })
  expect(first).toMatchObject({
    published: true,
    version: 1,
    compared_with_version: null,
    visibility: "private",
  })
  const { websocket_url } = await mcp.call("describe_stack", { stack: "my-auctions" })
  expect(first["websocket_url"]).toBe(websocket_url)
  const taken = await mcp.fails("publish_stack", { stack: "transfers", ast_path })
  expect(taken).toMatchObject({ code: "stack-name-taken", hint: expect.not.stringContaining("allow_breaking") })
  expect(await mcp.call("publish_stack", { stack: "my-auctions", ast_path })).toMatchObject({
    published: false,
    version: 1,
    verdict: "none",
    next: expect.stringContaining("Version 1 has this AST already"),
  })
  expect(await hearing).toMatchObject({ changes: [expect.any(Object)] })
})

test("it reads pages, schemas and skill files", async () => {
  const { results } = await mcp.call("search_docs", { query: "blockhash expires", limit: 2 })
  expect(results).toHaveLength(2)
  const page = await mcp.call("fetch_page", { slug: "payments", max_tokens: 500 })
  expect(page).toMatchObject({ truncated: true, next_cursor: expect.any(String) })
  expect(await mcp.fails("fetch_page", { path: "paymints" })).toMatchObject({
    code: "page-not-found",
    hint: expect.stringContaining("payments"),
  })
  const { contents } = await mcp.client.readResource({ uri: "svc://stacks/transfers/schema" })
  expect(contents).toMatchObject([{ text: expect.stringContaining('"SolTransfer"') }])
  const { contents: skill } = await mcp.client.readResource({ uri: "svc://skills/svc-consume" })
  expect(skill).toMatchObject([{ text: expect.stringContaining("name: svc-consume") }])
  const missing = mcp.client.readResource({ uri: "svc://stacks/nothing/schema" })
  expect(await missing.catch(() => "not found")).toBe("not found")
})

const questions = [
  "which errors may I retry",
  "how do I verify a session token",
  "blockhash expires",
  "maximum body size of a relay request",
  "PostgreSQL two replicas",
  "rotate a key without downtime",
]
const codes = [
  "submission_unknown",
  "agent-account-forbidden",
  "rate-limit-exceeded",
  "id-reused",
  "insufficient_scope",
  "key-required",
  "expired-api-key",
  "run-waiting",
]

test("an agent's twelve tasks need under 15,000 tokens with the definitions, without a wrong call", async () => {
  const own = await makeHome(join(instance.folder, "twelve"))
  // As pnpm start stores the key of the developer's account.
  const stdin = await readFile(ownerKeyFile(instance.folder), "utf8")
  expect(await runProgram(process.execPath, [tool, "auth", "login"], { env: own, stdin })).toMatchObject({ code: 0 })
  const paths = {
    first: await writeJson("first.json", auctions.first),
    breaking: await writeJson("second.json", auctions.breaking),
  }

  const killed = await startMcp(tool, own)
  agent = await startMcp(tool, own)
  const transfers = { stack: "transfers", view: "SolTransfer/list" }
  // 1 sign up, 2 discover
  await agent.call("account", { sign_up: true })
  await agent.call("list_stacks")
  await agent.call("describe_stack", { stack: "transfers", entity: "SolTransfer" })
  // 3 wait with a filter, 4 count
  const where = [{ field: "amount.lamports", op: "gte", value: "1500000000" }]
  const onprogress = () => void wallet.fund(1_600_000_000n)
  expect(await agent.call("wait_for_change", { ...transfers, where }, { onprogress })).toMatchObject({
    changes: [{ op: "upsert" }],
  })
  await agent.call("read_view", { ...transfers, fields: ["amount.lamports"], limit: 100 })
  // 5 a browser's key: the tools find the command, which a person or a shell runs
  await agent.call("search_docs", { query: "publishable key origin browser", limit: 1 })
  // 6 pay once, killed while paying
  const { wire, signature } = await wallet.signTransfer(3_000_000n)
  const before = await wallet.recipientBalance()
  const payment = { id: "killed", transaction: wire }
  const kill = () => process.kill(killed.transport.pid ?? 0, "SIGKILL")
  await killed.call("submit_payment", payment, { onprogress: kill }).catch(() => undefined)
  expect(await agent.call("submit_payment", payment)).toMatchObject({ state: "landed", signature })
  expect((await wallet.recipientBalance()) - before).toBe(3_000_000n)
  // 7 fee, simulation, status
  const { wire: next } = await wallet.signTransfer(4_000_000n)
  expect(await agent.call("get_fee", { transaction: next })).toMatchObject({
    lamports: "5000",
    latest_blockhash: expect.any(String),
  })
  expect(await agent.call("simulate_transaction", { transaction: next })).toMatchObject({ err: null })
  await agent.call("get_transaction", { signature })
  // 8 publish, break, roll back, 9 hear of it
  const { next: after } = await agent.call("list_changes", { stack: "twelve" })
  await agent.call("publish_stack", { stack: "twelve", ast_path: paths.first })
  const broken = await agent.call("publish_stack", { stack: "twelve", ast_path: paths.breaking })
  const nextStep = expect.stringContaining("allow_breaking")
  expect(broken).toMatchObject({ published: false, version: 1, verdict: "breaking", next: nextStep })
  for (const [index, ast_path] of [paths.breaking, paths.first].entries()) {
    const published = await agent.call("publish_stack", { stack: "twelve", ast_path, allow_breaking: true })
    expect(published).toMatchObject({ published: true, version: index + 2 })
  }
  const heard = await agent.call("list_changes", { after, stack: "twelve", timeout_seconds: 30 })
  expect(heard["changes"]).toHaveLength(3)
  // 10 rotate
  await remember("twelve")
  const keysBefore = keys.size
  expect(await agent.call("rotate_key")).toMatchObject({
    key_hint: expect.stringMatching(/^svc_[a-z]k_…/),
    old_expires_at: expect.any(String),
    next: expect.stringMatching(
      /^svc_[a-z]k_… ?\S* works until \d{4}-\S+; to end it sooner, ask a person: svc keys revoke \d+\.$/,
    ),
  })
  await remember("twelve")
  expect(keys.size).toBe(keysBefore + 1)
  expect(await agent.call("account")).toMatchObject({ status: "active" })
  // 11 eight errors, 12 six questions
  for (const query of codes) await agent.call("search_docs", { query, limit: 1 })
  for (const query of questions) await agent.call("search_docs", { query, limit: 1 })

  const definitions = JSON.stringify((await agent.client.listTools()).tools).length
  const characters = agent.sizes.reduce((sum, one) => sum + one.characters, 0)
  const tokens = Math.ceil((definitions + characters) / 4)
  process.stderr.write(`twelve tasks: ${agent.sizes.length + 1} calls, ${tokens} tokens\n`)
  expect(tokens).toBeLessThan(15_000)
  await killed.close()
})

test("no key and no token was in a result, an error or the log", () => {
  expect(keys.size).toBeGreaterThanOrEqual(4)
  const clients = [mcp, ...(agent === undefined ? [] : [agent])]
  const told = clients.flatMap((client) => [...client.texts, client.stderr()]).join("\n")
  expect(told.length).toBeGreaterThan(5000)
  for (const key of keys) expect(told).not.toContain(key)
  expect(told).not.toMatch(/\beyJ[\w-]{10,}\.[\w-]{10,}\./)
  const sizes = clients.flatMap((client) => client.sizes.map(({ characters }) => characters))
  expect(Math.ceil(Math.max(...sizes) / 4)).toBeLessThan(8000)
})
