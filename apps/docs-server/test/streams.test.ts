import { once } from "node:events"
import { request, type ClientRequest, type IncomingMessage } from "node:http"
import { afterEach, expect, test, vi } from "vitest"
import { createEventStreams } from "@svc/http"
import { openQuietStream } from "../src/mcp/routes.ts"
import { modernCall, serverOfFile, testServer } from "./start.ts"

const server = serverOfFile(() => ({ SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32" }))
let opened: ClientRequest[] = []
afterEach(() => {
  for (const sent of opened) sent.destroy()
  opened = []
})

/** GET /mcp for the stream, as a client of some address behind the proxy. */
const open = async (
  headers: Record<string, string> = {},
  method = "GET",
  { port } = server,
): Promise<IncomingMessage> => {
  const sent = request({
    host: "127.0.0.1",
    port,
    path: "/mcp",
    method,
    headers: { accept: "text/event-stream", ...headers },
    agent: false,
  })
  opened.push(sent)
  sent.on("error", () => {})
  sent.end()
  const [response] = (await once(sent, "response")) as [IncomingMessage]
  return response
}
const textOf = async (response: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const part of response) text += String(part)
  return text
}

test("the stream opens at once, with a comment and stream headers", async () => {
  const response = await open()
  expect(response.headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "access-control-allow-origin": "*",
  })
  const [first] = (await once(response, "data")) as [Buffer]
  expect(first.toString()).toBe(": open\n\n")
})

test("HEAD returns the stream's headers and opens none", async () => {
  for (let i = 0; i < 20; i++) {
    const response = await open({}, "HEAD")
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "text/event-stream"])
  }
})

test("2026-07-28 has no GET stream: 405 with Allow; an unknown revision is 400", async () => {
  const response = await open({ "mcp-protocol-version": "2026-07-28" })
  expect([response.statusCode, response.headers.allow]).toEqual([405, "POST"])
  expect(await textOf(response)).toContain("method_not_allowed")
  const unknown = await open({ "mcp-protocol-version": "1999-01-01" })
  expect([unknown.statusCode, await textOf(unknown)]).toEqual([
    400,
    expect.stringContaining("Name one of 2026-07-28, "),
  ])
  expect((await open({ "mcp-protocol-version": "2025-11-25" })).statusCode).toBe(200)
})

test("a client's ninth stream is rejected, and closing one makes room", async () => {
  const from = { "x-forwarded-for": "192.0.2.1" }
  for (let i = 0; i < 8; i++) expect((await open(from)).statusCode).toBe(200)
  const refused = await open(from)
  expect([refused.statusCode, refused.headers.allow, await textOf(refused)]).toEqual([
    405,
    "POST",
    expect.stringContaining("method_not_allowed"),
  ])
  expect((await open({ "x-forwarded-for": "192.0.2.2" })).statusCode).toBe(200)
  opened[0]?.destroy()
  await expect.poll(async () => (await open(from)).statusCode).toBe(200)
})

test("a network may have as many streams as sixteen addresses, and can't keep others out", async () => {
  const subnets = Array.from({ length: 130 }, (_, n) => open({ "x-forwarded-for": `2001:db8:1:${n.toString(16)}::1` }))
  const statuses = (await Promise.all(subnets)).map(({ statusCode }) => statusCode)
  expect(statuses.filter((status) => status === 405)).toHaveLength(2)
  for (let i = 0; i < 300; i++)
    expect((await open({ "x-forwarded-for": `198.51.${i >> 8}.${i & 255}` })).statusCode).toBe(200)
  expect((await server.rpc("ping")).status).toBe(200)
})

test("subscriptions/listen is a stream that ends at once, because nothing changes for a client", async () => {
  const call = modernCall("subscriptions/listen", { notifications: { toolsListChanged: true } })
  const response = await server.rpc("subscriptions/listen", call.params, {}, call.headers)
  expect(response.headers.get("content-type")).toBe("text/event-stream")
  const text = await response.text()
  const messages = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]): unknown => JSON.parse(data))
  const named = { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } }
  expect(messages).toMatchObject([
    { method: "notifications/subscriptions/acknowledged", params: named },
    { id: 1, result: { resultType: "complete", ...named } },
  ])
})

test("closing the server ends open streams at once", async () => {
  const own = await testServer()
  const ended = [await open({}, "GET", own), await open({}, "GET", own)].map((response) => textOf(response))
  await own.close()
  expect(await Promise.all(ended)).toEqual([": open\n\n", ": open\n\n"])
})

test("a stream ends after five minutes", async () => {
  vi.useFakeTimers()
  try {
    const streams = createEventStreams({ stopping: new AbortController().signal })
    const timers = vi.getTimerCount()
    const onEnd = vi.fn<() => void>()
    openQuietStream(streams, () => {}, onEnd)
    await vi.advanceTimersByTimeAsync(299_999)
    expect([streams.size(), onEnd.mock.calls.length]).toEqual([1, 0])
    await vi.advanceTimersByTimeAsync(1)
    expect([streams.size(), onEnd.mock.calls.length, vi.getTimerCount()]).toEqual([0, 1, timers])
  } finally {
    vi.useRealTimers()
  }
})
