import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { freePort, postJson } from "@svc/testing"
import { expect, onTestFinished, test, vi } from "vitest"
import { startService as start, testReceiver } from "../../../test/start-service.ts"
import { raw, result } from "./fake-rpc.ts"
import { startRelay, testRpc } from "./fixture.ts"
import { anyTransaction } from "./transactions.ts"

const enabled = (url: string) => ({ SVC_TRANSACTIONS_ENABLED: "true", SVC_TRANSACTION_RPC_URL: url })

const usageSettings = (url: string) => ({
  SVC_TRANSACTION_USAGE_ENABLED: "true",
  SVC_TRANSACTION_USAGE_ENDPOINT: url,
  SVC_TRANSACTION_USAGE_TOKEN: "t",
})
const recordsOf = ({ received }: Awaited<ReturnType<typeof testReceiver>>) =>
  received.flatMap(({ body }) => (JSON.parse(String(body)) as { events: { operation: string }[] }).events)

const startService = (env: Record<string, string>) => start("relay", env)
const post = (url: string, route: string, body: unknown, headers?: Record<string, string>) =>
  postJson(`${url}/transactions/v1/${route}`, body, headers)

const textOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
    socket.on("close", () => resolve(text))
  })

test("without settings it starts with its routes disabled and without a warning, and stops with exit code 0", async () => {
  const service = await startService({})
  const health = await fetch(`${service.url}/health`)
  expect(await health.json()).toMatchObject({ status: "ok", transactions: { enabled: false } })
  const own = (await (await fetch(`${service.url}/openapi.json`)).json()) as { servers: unknown }
  expect(own.servers).toEqual([{ url: `http://localhost:${service.port}` }])
  expect(await service.stop()).toBe(0)
  expect(service.child.stdout()).not.toContain('"warn"')
})

test("a start with providers on another chain, or with a clock that is an hour off, warns of it, and such a fallback isn't read from", async () => {
  const anHourAgo = new Date(Date.now() - 3_600_000).toUTCString()
  const rpc = await testRpc(undefined, anHourAgo)
  const other = await testRpc("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d")
  const service = await startService({
    ...enabled(rpc.url),
    SVC_TRANSACTION_SEND_URL: other.url,
    SVC_TRANSACTION_READ_FALLBACK_URLS: other.url,
  })
  await service.child.waitFor(
    /"warn".*"next":"Use providers on one chain\.".*SVC_TRANSACTION_SEND_URL is on another chain: mainnet/,
  )
  await service.child.waitFor(/"warn".*"next":"Synchronise.*the clock differs by 3[56]\d\d/)
  rpc.script(() => raw("", 503))
  expect((await postJson(`${service.url}/transactions/v1/block-height`, {})).status).toBe(502)
  expect([rpc.requests.length, other.requests.length]).toEqual([1, 0])
  expect(await service.stop()).toBe(0)
})

test("a relay that can't fetch the session keys is alive but not ready, and logs the host and the reason", async () => {
  const port = await freePort()
  const service = await startService({
    ...enabled("http://127.0.0.1:9"),
    SVC_SESSION_JWKS_URL: `http://127.0.0.1:${port}/jwks.json`,
    SVC_SESSION_AUDIENCE: "transfers",
  })
  const [, line = ""] = await service.child.waitFor(/(\{[^\n]*"the session keys could not be fetched"\})/)
  expect(JSON.parse(line)).toMatchObject({
    host: `127.0.0.1:${port}`,
    reason: `fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`,
  })
  const ready = await fetch(`${service.url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([503, { status: "unavailable", missing: ["session-keys"] }])
  expect((await fetch(`${service.url}/livez`)).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

test("an unprotected relay warns, of a trusted proxy too, and once of requests through one, which it still serves", async () => {
  const rpc = await testRpc()
  rpc.script((request) => result(request, "5"))
  const service = await startService({ ...enabled(rpc.url), SVC_TRUSTED_PROXY_CIDRS: "192.0.2.7" })
  for (const headers of [{}, { via: "1.1 proxy" }, { "x-forwarded-for": "192.0.2.1" }])
    expect((await post(service.url, "block-height", {}, headers)).status).toBe(200)
  service.child.kill("SIGINT")
  expect(await service.child.exited).toBe(0)
  expect(service.child.stdout()).toMatch(/"warn".*unprotected/)
  expect(service.child.stdout()).toMatch(/"warn".*SVC_TRUSTED_PROXY_CIDRS/)
  expect(
    service.child.stdout().match(/"warn".*"header":"via".*came through a proxy.*SVC_SESSION_JWKS_URL/g),
  ).toHaveLength(1)
  expect(service.child.stdout().match(/came through a proxy/g)).toHaveLength(1)
})

test("what crosses with the relay's stop is served, as the last request of its connection, kept or new", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const rpc = await testRpc()
  rpc.script((request) => result(request, "5"))
  const relay = await startRelay(rpc.url)
  const fresh = connect(relay.port, "127.0.0.1")
  const freshAnswer = textOf(fresh)
  await once(fresh, "connect")
  const kept = connect(relay.port, "127.0.0.1")
  const answers = textOf(kept)
  const head = "POST /transactions/v1/block-height HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
  const request = `${head}Content-Length: 2\r\n\r\n{}`
  kept.write(request)
  await once(kept, "data")
  const closed = relay.close()
  kept.write(request)
  fresh.write(request)
  expect(await freshAnswer).toMatch(/^HTTP\/1\.1 200 /)
  const text = await answers
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"])
  expect(text.toLowerCase().match(/connection: close/g)).toHaveLength(1)
  await closed
})

test("SIGTERM: a send in progress gets its response, a late request 503, usage is flushed, then exit code 0", async () => {
  const rpc = await testRpc()
  const usage = await testReceiver()
  const service = await startService({ ...enabled(rpc.url), ...usageSettings(usage.url) })
  rpc.script((request) => result(request, "5"))
  expect((await post(service.url, "block-height", {})).status).toBe(200)
  rpc.script(() => ({ after: "stall" }))
  const transaction = await anyTransaction()
  const send = post(service.url, "send", { transaction })
  await rpc.received(2)
  // A request that is incomplete when the drain starts.
  const late = connect(service.port, "127.0.0.1")
  const lateAnswer = textOf(late)
  await new Promise<void>((resolve) =>
    late.write("POST /transactions/v1/send HTTP/1.1\r\nHost: local", () => resolve()),
  )
  const kept = connect(service.port, "127.0.0.1")
  const keptAnswer = textOf(kept)
  kept.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
  // By then the relay has read the bytes above.
  await once(kept, "data")
  service.child.kill("SIGTERM")
  await service.child.waitFor(/"msg":"stopping"/)
  // What comes from now on didn't cross with the stop: the idle connection was ended.
  await keptAnswer
  late.write("host\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
  const refused = await lateAnswer
  expect(refused).toMatch(/^HTTP\/1\.1 503 /)
  expect(refused.toLowerCase()).toMatch(/connection: close/)
  expect(refused).toMatch(/"code":"server_busy","message":"The relay is stopping\.".*"submissionState":"not_submitted"/)
  await expect(once(connect(service.port, "127.0.0.1"), "connect")).rejects.toThrow("ECONNREFUSED")
  rpc.cut()
  const answer = await send
  expect(answer.status).toBe(502)
  expect(await answer.json()).toMatchObject({ code: "submission_unknown" })
  expect(await service.child.exited).toBe(0)
  expect(
    recordsOf(usage)
      .map(({ operation }) => operation)
      .sort(),
  ).toEqual(["block_height", "send"])
})

test("a client that leaves doesn't stop a send: SIGTERM waits for its end, and it is counted", async () => {
  const rpc = await testRpc()
  const usage = await testReceiver()
  const service = await startService({ ...enabled(rpc.url), ...usageSettings(usage.url) })
  rpc.script(() => ({ after: "stall" }))
  const transaction = await anyTransaction()
  const body = JSON.stringify({ transaction })
  const client = connect(service.port, "127.0.0.1")
  client.write(
    "POST /transactions/v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  await rpc.received(1)
  client.resetAndDestroy()
  service.child.kill("SIGTERM")
  await service.child.waitFor(/"msg":"stopping"/)
  expect(service.child.stdout()).not.toContain('"status":502')
  rpc.cut()
  expect(await service.child.exited).toBe(0)
  expect(service.child.stdout()).toContain('"route":"/transactions/v1/send","status":502')
  expect(rpc.requests).toHaveLength(1)
  expect(recordsOf(usage)).toMatchObject([{ operation: "send", result: "unknown" }])
})
