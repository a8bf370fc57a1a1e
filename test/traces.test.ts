// @module-tag long
import { once } from "node:events"
import { connect } from "node:net"
import { createPlatform } from "@svc/client"
import { postJson, redisProgram, startRedis } from "@svc/testing"
import { expect, onTestFinished, test } from "vitest"
import { startCollector } from "../packages/telemetry/test/run.ts"
import { publishStack } from "./publish-stack.ts"
import { platformSettings, startService, testFolder, testReceiver } from "./start-service.ts"

/** A collector of traces, until the test is over. */
const openCollector = async () => {
  const collector = await startCollector()
  onTestFinished(collector.close)
  return collector
}
type Span = ReturnType<Awaited<ReturnType<typeof startCollector>>["spans"]>[number]
const failureOf = (one: Span | undefined) => [one?.status.code, one?.attributes["error.type"]]
const failed = 2

const start = (app: Parameters<typeof startService>[0], collector: string, env: Readonly<Record<string, string>>) =>
  startService(app, {
    SVC_OTEL_ENABLED: "true",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    ...env,
  })

const trace = "0af7651916cd43dd8448eb211c80319c"
const parent = "b7ad6b7169203331"
const sampled = { traceparent: `00-${trace}-${parent}-01` }

test("a trace of a send ends at the provider's response, with every failure on its span", async () => {
  const collector = await openCollector()
  const provider = await testReceiver()
  provider.answer(({ url, body }, response) => {
    const id = /"id":(\d+)/.exec(String(body))?.[1]
    const refused = `{"jsonrpc":"2.0","id":${id},"error":{"code":-32002,"message":"Transaction simulation failed"}}`
    response.writeHead(url === "/usage" ? 401 : 200).end(refused)
  })
  const redis = redisProgram() === undefined ? undefined : await startRedis()
  onTestFinished(() => redis?.stop())
  const relay = await start("relay", collector.url, {
    SVC_TRANSACTIONS_ENABLED: "true",
    SVC_TRANSACTION_RPC_URL: provider.url,
    SVC_TRANSACTION_USAGE_ENABLED: "true",
    SVC_TRANSACTION_USAGE_ENDPOINT: `${provider.url}/usage`,
    SVC_TRANSACTION_USAGE_TOKEN: "usage",
    OTEL_TRACES_SAMPLER: "parentbased_always_on",
    ...(redis !== undefined && { SVC_LIMITS_URL: redis.url, SVC_LIMITS_TIMEOUT_MS: "5000" }),
  })
  const transaction = Buffer.alloc(200, 1).toString("base64")
  const send = await postJson(`${relay.url}/transactions/v1/send`, { transaction }, sampled)
  await send.text()
  expect(send.headers.get("x-request-id")).toBe(trace)
  expect((await fetch(`${relay.url}/nowhere?key=hidden`)).status).toBe(404)
  expect(await relay.stop()).toBe(0)

  const served = collector.spans().find(({ parentSpanId }) => parentSpanId === parent)
  expect(served).toMatchObject({ traceId: trace, name: "POST /transactions/v1/send" })
  expect(served?.attributes).toMatchObject({ "http.route": "/transactions/v1/send" })
  const asked = collector.spans().filter(({ parentSpanId }) => parentSpanId === served?.spanId)
  const limits = redis === undefined ? [] : ["limits take", "limits enter"]
  const expected = [...limits, "provider sendTransaction"].map((name) => [name, trace])
  expect(asked.map(({ name, traceId }) => [name, traceId])).toEqual(expected)
  expect(failureOf(asked.at(-1))).toEqual([failed, "-32002"])
  // A batch of records belongs to no single request.
  const usage = collector.spans().find(({ name }) => name === "POST usage records")
  expect(usage?.parentSpanId ?? "").toBe("")
  expect(usage?.traceId).not.toBe(trace)
  expect(failureOf(usage)).toEqual([failed, "401"])
  const any: unknown = expect.any(String)
  expect(collector.resource()).toMatchObject({ "service.name": any, "service.instance.id": any })
  const heard = provider.received.filter(({ body }) => String(body).includes("sendTransaction"))
  expect(heard).toHaveLength(1)
  expect(heard[0]?.headers["traceparent"]).toBeUndefined()
  expect(relay.child.stdout()).toMatch(new RegExp(`"request_id":"${trace}".*"trace_id":"${trace}","msg":"request"`))
  expect(JSON.stringify(collector.spans())).not.toContain("hidden")
})

test("a trace of a key check goes from the caller through the platform into PostgreSQL", async () => {
  const collector = await openCollector()
  const hook = await testReceiver()
  const own = await platformSettings()
  const platform = await start("platform-api", collector.url, {
    ...own,
    OTEL_TRACES_SAMPLER: "parentbased_always_on",
    SVC_DEPLOY_HOOK_URL: hook.url,
    SVC_DEPLOY_HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  })
  await publishStack(platform.url, own, "traced")
  const provider = await testReceiver()
  const keys = await testReceiver()
  const jwks = await (await fetch(`${platform.url}/.well-known/jwks.json`)).text()
  keys.answer((_, response) => (keys.received.length === 1 ? response.writeHead(503).end() : response.end(jwks)))
  const relay = await start("relay", collector.url, {
    SVC_TRANSACTIONS_ENABLED: "true",
    SVC_TRANSACTION_RPC_URL: provider.url,
    SVC_SESSION_JWKS_URL: keys.url,
    SVC_SESSION_AUDIENCE: "traced",
    OTEL_TRACES_SAMPLER: "always_on",
  })
  await expect.poll(async () => (await fetch(`${relay.url}/readyz`)).status).toBe(200)
  expect(await relay.stop()).toBe(0)
  await expect.poll(() => hook.received).toHaveLength(1)
  const { api_key: key } = await createPlatform({ apiUrl: platform.url }).signUp()
  const me = await fetch(`${platform.url}/api/agents/me`, { headers: { authorization: `Bearer ${key}`, ...sampled } })
  expect(me.status).toBe(200)
  const ids = Array.from({ length: 20 }, (_, index) => `0af7651916cd43dd8448eb21${String(10_000_000 + index)}`)
  const many = await Promise.all(
    ids.map((id) =>
      fetch(`${platform.url}/api/agents/me`, {
        headers: { authorization: `Bearer ${key}`, traceparent: `00-${id}-${parent}-01` },
      }),
    ),
  )
  expect(many.map(({ status }) => status)).toEqual(ids.map(() => 200))
  expect(await platform.stop()).toBe(0)

  const served = collector.spans().find((one) => one.parentSpanId === parent && one.traceId === trace)
  expect(served).toMatchObject({ traceId: trace, name: "GET /api/agents/me" })
  const asked = collector.spans().filter(({ parentSpanId }) => parentSpanId === served?.spanId)
  expect(asked.map(({ name, traceId }) => [name, traceId])).toContainEqual(["database run", trace])
  expect(JSON.stringify(collector.spans())).not.toContain(key)
  // Keys asked for in one turn of the event loop share a query: it belongs to one request and names the others it was for.
  const queries = collector.spans().filter(({ name, traceId }) => name === "database run" && ids.includes(traceId))
  expect(queries.length).toBeLessThanOrEqual(ids.length)
  const named = queries.flatMap(({ links }) => links)
  expect([...queries, ...named].map(({ traceId }) => traceId).toSorted()).toEqual(ids)
  const keyRequest = collector.spans().filter(({ name }) => name === "GET session keys")
  expect(keyRequest.map(({ parentSpanId = "" }) => parentSpanId)).toEqual(["", ""])
  expect(keyRequest.map(failureOf)).toEqual([
    [failed, "503"],
    [0, undefined],
  ])
  const hooked = collector.spans().find(({ name }) => name === "POST deploy hook")
  expect(failureOf(hooked)).toEqual([0, undefined])
  expect(hooked?.attributes).toMatchObject({ "svc.hook.type": "deployment.deploy" })
})

test("an unsampled request takes no part in an earlier one's trace on the same connection", async () => {
  const collector = await openCollector()
  const { child, url, stop } = await start("platform-api", collector.url, {
    SVC_DATA_DIR: await testFolder(),
    OTEL_TRACES_SAMPLER_ARG: "0",
  })
  const { api_key: key } = await createPlatform({ apiUrl: url }).signUp()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const request = (more: string): string =>
    `GET /api/agents/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n${more}\r\n`
  const kept = request(`traceparent: ${sampled.traceparent}\r\n`)
  const rest = [request(""), request(""), request("connection: close\r\n")].join("")
  let answers = ""
  socket.setEncoding("utf8").on("data", (text: string) => {
    // First by itself, then in front of others that are there already.
    if (answers === "") socket.write(kept + rest)
    answers += text
  })
  socket.write(kept)
  await once(socket, "close")
  expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(5)
  expect(await stop()).toBe(0)
  const { queries = [], requests = [] } = Object.groupBy(collector.spans(), ({ name }) =>
    name === "database run" ? "queries" : "requests",
  )
  expect(requests.map(({ traceId, name }) => `${traceId} ${name}`)).toEqual(
    Array(2).fill(`${trace} GET /api/agents/me`),
  )
  expect(new Set(queries.map(({ parentSpanId }) => parentSpanId))).toEqual(
    new Set(requests.map(({ spanId }) => spanId)),
  )
  expect(queries).toHaveLength(2)
  const ids = [...child.stdout().matchAll(/"route":"\/api\/agents\/me".*"trace_id":"(\w+)"/g)].map(([, id]) => id)
  expect(ids.filter((id) => id === trace)).toHaveLength(2)
  expect(new Set(ids).size).toBe(4)
})

test("MCP's own trace fields name the parent of a message, and don't change cached responses", async () => {
  const collector = await openCollector()
  const docs = await start("docs-server", collector.url, {})
  const call = async (meta: object) => {
    const params = { name: "search_docs", arguments: { query: "rate limits" }, _meta: meta }
    return (await postJson(`${docs.url}/mcp`, { jsonrpc: "2.0", id: 1, method: "tools/call", params })).text()
  }
  const plain = await call({})
  expect(await call(sampled)).toBe(plain)
  expect(await call({ traceparent: `00-${trace}-00f067aa0ba902b7-01` })).toBe(plain)
  expect(await docs.stop()).toBe(0)
  const ofTrace = collector.spans().filter(({ traceId }) => traceId === trace)
  expect(ofTrace.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ["mcp tools/call", parent],
    ["mcp tools/call", "00f067aa0ba902b7"],
  ])
})

test("while telemetry is off only its API is loaded", async () => {
  const collector = await openCollector()
  const docs = await start("docs-server", collector.url, {
    SVC_OTEL_ENABLED: "false",
    NODE_OPTIONS:
      "--import=data:text/javascript,import{registerHooks}from'node:module';registerHooks({load(u,c,n){if(u.includes('@opentelemetry'))process.stderr.write(u+'\\n');return%20n(u,c)}})",
  })
  await fetch(`${docs.url}/health`, { headers: sampled })
  expect(await docs.stop()).toBe(0)
  const packages = new Set(
    [...docs.child.stderr().matchAll(/node_modules\/@opentelemetry\/([\w-]+)/g)].map(([, name]) => name),
  )
  expect([...packages]).toEqual(["api"])
  expect(collector.spans()).toEqual([])
})
