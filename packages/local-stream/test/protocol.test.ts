import { connect as connectTo } from "node:net"
import { text as wholeText } from "node:stream/consumers"
import { defaultBounds } from "@svc/http"
import { publicJwks, staticKeys } from "@svc/session-token"
import { processRuntime } from "@svc/program"
import { rawExchange } from "@svc/testing"
import { afterEach, expect, onTestFinished, test } from "vitest"
import { connectionsPerAddress, startServer } from "../src/server/server.ts"
import type { Stack } from "../src/stack/stack.ts"
import { foreignKeys, mintToken, openRaw, startTogether } from "./fixture.ts"
import { transfer } from "@svc/testing/solana"

const { chain, stream } = await startTogether("transfers", "name-service")

const connections: Awaited<ReturnType<typeof openRaw>>[] = []
afterEach(() => {
  for (const connection of connections.splice(0)) connection.close()
})
const open = async (...[options = {}, stack]: [options?: Parameters<typeof openRaw>[1], stack?: string]) => {
  const connection = await openRaw(stream.url(stack), options)
  connections.push(connection)
  return connection
}
const connect = async (claims: object = {}) => open({ token: await mintToken(claims) })
const codeOf = async (...options: Parameters<typeof open>) => {
  const { refused } = await open(...options)
  expect(refused?.headers["x-error-code"]).toBe(refused?.body.code)
  return [refused?.status, refused?.body.code]
}

test("a client without a valid token for the stack is rejected before the upgrade, with the platform's error body", async () => {
  const faults: [object, { keys?: typeof foreignKeys; life?: number }, number, string][] = [
    [{}, { keys: foreignKeys }, 401, "token-key-not-found"],
    [{}, { life: -10 }, 401, "token-expired"],
    [{ iss: "someone" }, {}, 401, "token-invalid-issuer"],
    [{ sub: undefined }, {}, 401, "token-missing-claim"],
    [{ origin: "https://app.example" }, {}, 403, "origin-required"],
  ]
  for (const [claims, how, status, code] of faults) {
    expect(await codeOf({ token: await mintToken(claims, how) })).toEqual([status, code])
  }
  const bound = { token: await mintToken({ origin: "https://app.example" }) }
  expect(await codeOf({ ...bound, headers: { origin: "https://evil.example" } })).toEqual([403, "origin-mismatch"])
  expect((await open({ ...bound, headers: { origin: "https://app.example" } })).refused).toBeUndefined()
  const { refused } = await open()
  expect(refused).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } })
  expect(refused?.body).toEqual({
    error: "A session token is required.",
    code: "token-missing",
    request_id: expect.any(String),
    retryable: false,
    hint: expect.any(String),
  })
  expect(await codeOf({ token: await mintToken() }, "nowhere")).toEqual([404, "stack-not-found"])
})

test("a stack that is withdrawn while a token is checked isn't served", async () => {
  const keys = await staticKeys(JSON.stringify(publicJwks(foreignKeys)))
  const find = (kid: string) => (server.remove("transfers"), keys.find(kid))
  const server = await startServer({
    ...processRuntime({}),
    host: "127.0.0.1",
    port: 0,
    bounds: defaultBounds,
    keys: { ...keys, find },
    issuer: "svc-platform",
    health: () => ({}),
    onCut: () => {},
    onBug: () => {},
  })
  onTestFinished(server.close)
  server.put({ name: "transfers" } as Stack)
  const url = `ws://127.0.0.1:${server.port}/transfers`
  const { refused } = await openRaw(url, { token: await mintToken({}, { keys: foreignKeys }) })
  expect(refused).toMatchObject({ status: 404, body: { code: "stack-not-found" } })
})

test("a target that isn't a path is a 404, and ends nothing", async () => {
  const { port } = new URL(stream.url())
  for (const target of ["//", "http://["]) {
    for (const upgrade of ["", "Connection: Upgrade\r\nUpgrade: websocket\r\n"]) {
      const socket = connectTo(Number(port), "127.0.0.1")
      socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)
      expect(await wholeText(socket)).toMatch(/^HTTP\/1.1 404 /)
    }
  }
})

test("a connection has at most 1,000 subscriptions, and leaves them all at once", async () => {
  const one = await connect({ sub: "agent:greedy" })
  for (let key = 0; key <= 1000; key++) one.send({ type: "subscribe", view: "Wallet/list", key: `${key}` })
  await one.message({ code: "subscription-limit-exceeded", fatal: false })
  expect(one.messages.filter(({ op }) => op === "subscribed")).toHaveLength(1000)
  one.close()
  const two = await connect({ sub: "agent:greedy" })
  two.send({ type: "subscribe", view: "Wallet/list" })
  await two.message({ op: "subscribed" })
})

test("plain HTTP returns the health, or an error that says what is expected", async () => {
  expect(await stream.health()).toEqual({
    status: "ok",
    stacks: {
      transfers: { version: 1, slot: expect.any(Number), entities: { SolTransfer: 0, Wallet: 0, TokenAccount: 0 } },
      "name-service": { version: 1, slot: expect.any(Number), entities: { NameRecord: 0, ParentName: 0 } },
    },
  })
  const answers = await Promise.all(["/transfers", "/a/b"].map((path) => fetch(stream.httpUrl + path)))
  expect(answers.map(({ status }) => status)).toEqual([426, 404])
  // Java's HTTP client offers HTTP/2 with each request.
  const offer = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n"
  expect(await rawExchange(Number(new URL(stream.httpUrl).port), offer)).toMatch(/^HTTP\/1.1 200 OK/)
})

test("a subscription is confirmed, then gets one whole snapshot, even of an empty view, then each change", async () => {
  const client = await connect()
  client.send({ type: "subscribe", view: "SolTransfer/latest", partition: "x", filters: {} })
  await client.message({ op: "snapshot" })
  expect(client.messages).toEqual([
    { op: "subscribed", view: "SolTransfer/latest", mode: "list", sort: { field: ["context", "slot"], order: "desc" } },
    { mode: "list", entity: "SolTransfer/latest", op: "snapshot", data: [], complete: true },
  ])
  client.send({ type: "subscribe", view: "Wallet/list" })
  const payer = await chain.fund()
  const to = (await chain.fund()).address
  const signature = await chain.send(payer, transfer(payer.address, to, 1_000_000_007n))
  chain.pass()
  const { seq, ...frame } = await client.message({ op: "upsert", key: signature })
  expect(seq).toMatch(/^\S+$/)
  expect(frame).toEqual({
    mode: "list",
    entity: "SolTransfer/latest",
    op: "upsert",
    key: signature,
    data: {
      id: { signature, instruction_index: 0 },
      parties: { source: payer.address, destination: to },
      amount: { lamports: "1000000007", sol: 1.000000007 },
      context: { slot: expect.stringMatching(/^\d+$/), block_time: expect.stringMatching(/^\d+$/) },
      seeded_source: null,
    },
  })
  await client.message({ entity: "Wallet/list", op: "upsert", key: payer.address })
  await chain.send(payer, transfer(payer.address, to, 5n))
  chain.pass()
  const patch = await client.message({ op: "patch", key: payer.address })
  expect(patch["data"].sent).toEqual({
    lamports: "1000000012",
    sol: 1.000000012,
    count: "2",
    last_slot: expect.any(String),
  })
  client.send({ type: "unsubscribe", view: "Wallet/list" })
  client.send({ type: "subscribe", view: "Wallet/state", key: payer.address })
  expect(await client.message({ entity: "Wallet/state", op: "snapshot" })).toMatchObject({
    data: [{ key: payer.address, data: { sent: { count: "2", recipients: "1" } } }],
  })
  const before = client.messages.length
  await chain.send(payer, transfer(payer.address, to, 5n))
  chain.pass()
  await client.message({ entity: "Wallet/state", op: "patch" })
  expect(client.messages.slice(before).map(({ entity }) => entity)).not.toContain("Wallet/list")
})

test("a connection ends with its token, unless a new one arrives in time", async () => {
  const short = await mintToken({}, { life: 4 })
  const [ending, renewed] = [await open({ token: short }), await open({ token: short })]
  renewed.send({ type: "refresh_auth", token: "x" })
  renewed.send({ type: "refresh_auth", token: await mintToken({ aud: "name-service" }) })
  renewed.send({ type: "refresh_auth", token: await mintToken() })
  await renewed.message({ success: true, expiresAt: expect.any(Number) })
  expect(renewed.messages.slice(0, 2)).toEqual([
    { success: false, error: "token-invalid-format" },
    { success: false, error: "token-invalid-audience" },
  ])
  expect(await ending.closed()).toEqual({ code: 1008, reason: expect.stringMatching(/^token-expired: /) })
  expect(ending.messages).toMatchObject([{ type: "error", code: "token-expired", retryable: true, fatal: true }])
  renewed.send({ type: "subscribe", view: "TokenAccount/list" })
  await renewed.message({ op: "snapshot" })
})

test("limits in a token apply to its subject, over all connections", async () => {
  const limits = { max_connections: 2, max_subscriptions: 2, max_snapshot_rows: 1, max_messages_per_minute: 8 }
  const mine = { sub: "agent:limited", limits }
  const [one, two] = [await connect(mine), await connect(mine)]
  expect(await codeOf({ token: await mintToken(mine) })).toEqual([429, "connection-limit-exceeded"])
  expect((await connect({ sub: "agent:other", limits })).refused).toBeUndefined()
  one.send({ type: "subscribe", view: "Wallet/list" })
  await one.message({ code: "snapshot-limit-exceeded", fatal: false })
  one.send({ type: "subscribe", view: "Wallet/list", snapshotLimit: 1 })
  one.send({ type: "subscribe", view: "SolTransfer/latest", take: 1 })
  await one.message({ op: "snapshot", entity: "SolTransfer/latest" })
  two.send({ type: "subscribe", view: "TokenAccount/list" })
  await two.message({ code: "subscription-limit-exceeded", fatal: false })
  one.send({ type: "unsubscribe", view: "Wallet/list" })
  one.send({ type: "ping" })
  await expect.poll(() => one.socket.bufferedAmount).toBe(0)
  two.send({ type: "subscribe", view: "TokenAccount/list" })
  await two.message({ op: "snapshot", entity: "TokenAccount/list" })
  for (let sent = 0; sent < 8; sent++) two.send({ type: "ping" })
  expect(await two.closed()).toMatchObject({ code: 1008, reason: expect.stringMatching(/^rate-limit-exceeded: /) })
  await two.message({ type: "error", code: "rate-limit-exceeded", retry_after: 60, fatal: true })
})

test("visitors who share a publishable key have connections per client address", async () => {
  const token = await mintToken({ sub: "user:7", key_class: "publishable", origin: "https://app.example" })
  const visitor = { token, headers: { origin: "https://app.example" } }
  const opened = await Promise.all(Array.from({ length: connectionsPerAddress }, () => open(visitor)))
  expect(opened.filter(({ refused }) => refused !== undefined)).toEqual([])
  expect(await codeOf(visitor)).toEqual([429, "connection-limit-exceeded"])
  expect((await open({ ...visitor, localAddress: "127.0.0.2" })).refused).toBeUndefined()
  opened[0]?.close()
  await opened[0]?.closed()
  await expect.poll(async () => (await open(visitor)).refused?.status).toBeUndefined()
})

test("a token's bytes per minute end the connection that exceeds them", async () => {
  const client = await connect({ sub: "agent:greedy", limits: { max_bytes_per_minute: 1_000 } })
  client.send({ type: "subscribe", view: "Wallet/list" })
  client.send({ type: "subscribe", view: "SolTransfer/list" })
  expect(await client.closed()).toMatchObject({ reason: expect.stringMatching(/^egress-limit-exceeded: /) })
  // The limit is checked before each frame: only the last one may cross it.
  const sizes = client.messages.filter(({ code }) => code === undefined).map((one) => JSON.stringify(one).length)
  expect(sizes.slice(0, -1).reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000)
  const again = await connect({ sub: "agent:greedy", limits: { max_bytes_per_minute: 1_000 } })
  again.send({ type: "subscribe", view: "Wallet/list" })
  await again.closed()
  expect(again.messages.map(({ code }) => code)).toEqual(["egress-limit-exceeded"])
})

test("a member that would narrow a subscription is rejected by name, not ignored", async () => {
  const client = await connect()
  for (const [member, value] of Object.entries({ filters: { "amount.lamports": 1 }, where: [1], limit: 3 })) {
    client.send({ type: "subscribe", view: "SolTransfer/latest", [member]: value })
    const { message } = await client.message({ code: "invalid-message", fatal: false })
    expect(message).toMatch(new RegExp(`^${member} isn't a field of a subscription`))
    client.messages.length = 0
  }
  client.send({ type: "subscribe", view: "SolTransfer/latest", partition: "x", filters: {}, where: null })
  await client.message({ op: "snapshot" })
})

test.each([
  [{ type: "subscribe" }, "view is missing."],
  [{ type: "subscribe", view: "Wallet/list", take: -1 }, "take must be at least 0."],
  [{ type: "refresh_auth", token: 7 }, "token must be a string."],
  [{ type: "nope" }, "type must be subscribe, unsubscribe, ping or refresh_auth."],
  [[], "The message must be an object."],
])("what is wrong with %j is said in our own words", async (sent, message) => {
  const client = await connect()
  client.send(sent)
  expect(await client.message({ code: "invalid-message" })).toMatchObject({ message })
})

test("a client that sends nothing more has its connection closed and its place freed", async () => {
  const token = await mintToken({ sub: "agent:half", limits: { max_connections: 1 } })
  const half = await open({ token })
  half.send({ type: "subscribe", view: "Wallet/list" })
  await half.message({ op: "snapshot" })
  // The TCP connection's own half close, without a WebSocket close frame.
  const { _socket: socket } = half.socket as unknown as { _socket: { end: () => void } }
  socket.end()
  expect(await half.closed()).toMatchObject({ code: 1006 })
  await expect.poll(async () => (await open({ token })).refused).toBeUndefined()
})
