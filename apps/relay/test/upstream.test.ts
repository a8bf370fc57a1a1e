import { freePort } from "@svc/testing"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createUpstream, type Upstream, type UpstreamAnswer } from "../src/upstream/upstream.ts"
import { type FakeRpc, http, raw, result, rpcError, type Script, startFakeRpc } from "./fake-rpc.ts"

let rpc: FakeRpc
let upstream: Upstream
beforeEach(async () => {
  rpc = await startFakeRpc()
  upstream = createUpstream(`${rpc.url}/rpc?api-key=secret`)
})
afterEach(async () => {
  await upstream.close()
  await rpc.close()
})

const call = (options: { timeoutMs?: number; to?: Upstream } = {}): Promise<UpstreamAnswer> =>
  (options.to ?? upstream).call({
    method: "getBlockHeight",
    params: [{ minContextSlot: JSON.rawJSON("18446744073709551615") }],
    timeoutMs: options.timeoutMs ?? 5000,
    maxAnswerBytes: 1000,
  })

test("a call is one JSON-RPC POST to the whole URL, and its u64 parameters are exact numbers", async () => {
  rpc.script((request) => result(request, "5"))
  expect(await call()).toEqual({ kind: "result", result: 5 })
  expect(rpc.requests).toHaveLength(1)
  const { head, text, id } = rpc.requests[0] ?? { head: "", text: "", id: 0 }
  expect(head).toMatch(/^POST \/rpc\?api-key=secret HTTP\/1\.1\r\n/)
  expect(head.toLowerCase()).toContain("content-type: application/json")
  expect(text).toBe(
    `{"jsonrpc":"2.0","id":${id},"method":"getBlockHeight","params":[{"minContextSlot":18446744073709551615}]}`,
  )
})

test("user and password of the URL become the Authorization header", async () => {
  const withPassword = createUpstream(rpc.url.replace("http://", "http://me:p%40ss@"))
  await call({ to: withPassword })
  await withPassword.close()
  expect(rpc.requests[0]?.head).toContain(`authorization: Basic ${Buffer.from("me:p@ss").toString("base64")}`)
})

const answers: Record<string, [Script, UpstreamAnswer]> = {
  "a result": [(r) => result(r, '{"a":1}'), { kind: "result", result: { a: 1 } }],
  "error: null beside a result": [
    ({ id }) => raw(`{"jsonrpc":"2.0","id":${id},"result":1,"error":null}`),
    { kind: "result", result: 1 },
  ],
  "an error": [
    (r) => rpcError(r, { code: -32005, data: { a: 1 } }),
    { kind: "rpc-error", code: -32005, message: "refused", data: { a: 1 }, status: 200 },
  ],
  "an error under status 500": [
    (r) => rpcError(r, { code: -32002 }, 500),
    { kind: "rpc-error", code: -32002, message: "refused", data: undefined, status: 500 },
  ],
  "a result under status 500": [
    ({ id }) => raw(`{"jsonrpc":"2.0","id":${id},"result":1}`, 500),
    { kind: "http-error", status: 500 },
  ],
  "a redirect": [
    () => ({ write: http(307, "", { location: "/elsewhere" }), after: "keep" }),
    { kind: "http-error", status: 307 },
  ],
  "an error with another id": [
    () => raw('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}', 429),
    { kind: "http-error", status: 429 },
  ],
  "both result and error": [
    ({ id }) => raw(`{"jsonrpc":"2.0","id":${id},"result":null,"error":{"code":1,"message":""}}`),
    { kind: "malformed" },
  ],
  "neither result nor error": [({ id }) => raw(`{"jsonrpc":"2.0","id":${id}}`), { kind: "malformed" }],
  "another id": [({ id }) => raw(`{"jsonrpc":"2.0","id":${id + 1},"result":1}`), { kind: "malformed" }],
  "our id as a string": [({ id }) => raw(`{"jsonrpc":"2.0","id":"${id}","result":1}`), { kind: "malformed" }],
  "a batch": [({ id }) => raw(`[{"jsonrpc":"2.0","id":${id},"result":1}]`), { kind: "malformed" }],
  "an error without a code": [(r) => rpcError(r, {}), { kind: "malformed" }],
  "an error with a broken code": [(r) => rpcError(r, { code: -32002.5 }), { kind: "malformed" }],
  "an error that is text": [({ id }) => raw(`{"jsonrpc":"2.0","id":${id},"error":"no"}`), { kind: "malformed" }],
  "a page": [() => raw("<html>"), { kind: "malformed" }],
  nothing: [() => raw(""), { kind: "malformed" }],
  "bytes that are not UTF-8": [() => raw(Buffer.from([0x22, 0xff, 0x22])), { kind: "malformed" }],
  "a body over the cap": [(r) => result(r, `"${"a".repeat(1000)}"`), { kind: "malformed" }],
  "a refusal with a body over the cap": [() => raw("a".repeat(2000), 403), { kind: "http-error", status: 403 }],
  "a reset after reading": [() => ({ after: "reset" }), { kind: "transport-error", started: true }],
  "an end without an answer": [() => ({ after: "end" }), { kind: "transport-error", started: true }],
  "half an answer": [
    () => ({ write: http(200, "a".repeat(100)).subarray(0, 90), after: "end" }),
    { kind: "transport-error", started: true },
  ],
  "no HTTP at all": [() => ({ write: "SSH-2.0-x\r\n", after: "keep" }), { kind: "transport-error", started: true }],
}

test.each(Object.entries(answers))("%s is read as what it is, after one request", async (_name, [script, expected]) => {
  rpc.script(script)
  expect(await call()).toEqual(expected)
  expect(rpc.requests).toHaveLength(1)
})

test("a stalled provider is given up at the deadline, mid-answer too, and the request counts as started", async () => {
  const partial = ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{", "HTTP/1.1 103 Early Hints\r\n\r\n"]
  for (const [before, write] of [undefined, ...partial].entries()) {
    rpc.script(() => ({ ...(write !== undefined && { write }), after: "stall" }))
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const given = call({ timeoutMs: 50 })
    await rpc.received(before + 1)
    vi.advanceTimersByTime(50)
    vi.useRealTimers()
    expect(await given).toEqual({ kind: "timeout", started: true })
  }
})

test("without a connection the request is proven not to have started", async () => {
  const refused = createUpstream(`http://127.0.0.1:${await freePort()}`)
  expect(await call({ to: refused })).toEqual({ kind: "transport-error", started: false })
  await refused.close()
  const unknownHost = createUpstream("http://nowhere.invalid")
  expect(await call({ to: unknownHost })).toEqual({ kind: "transport-error", started: false })
  await unknownHost.close()
})

test("a failed or silent TLS handshake is proven not to have started the request, and nothing is sent later", async () => {
  const tls = createUpstream(rpc.url.replace("http:", "https:"))
  rpc.onConnect("reset")
  expect(await call({ to: tls })).toEqual({ kind: "transport-error", started: false })
  rpc.onConnect("silence")
  expect(await call({ to: tls, timeoutMs: 50 })).toEqual({ kind: "timeout", started: false })
  await tls.close()
  expect(rpc.requests).toHaveLength(0)
})

test("a call given up while its connection was being made never leaves, even when the connection comes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const given = call({ timeoutMs: 10 })
  vi.advanceTimersByTime(10)
  vi.useRealTimers()
  expect(await given).toEqual({ kind: "timeout", started: false })
  rpc.script((request) => result(request, "2"))
  expect(await call()).toEqual({ kind: "result", result: 2 })
  expect(rpc.requests).toHaveLength(1)
})

test("a request on a kept connection that dies is not repeated", async () => {
  rpc.script((request) => result(request, "1"))
  await call()
  rpc.script(() => ({ after: "reset" }))
  expect(await call()).toEqual({ kind: "transport-error", started: true })
  expect(rpc.requests).toHaveLength(2)
  rpc.script((request) => result(request, "2"))
  expect(await call()).toEqual({ kind: "result", result: 2 })
})

test("no proxy is taken from the environment", async () => {
  const before = process.env["HTTP_PROXY"]
  process.env["HTTP_PROXY"] = "http://127.0.0.1:9"
  process.env["NODE_USE_ENV_PROXY"] = "1"
  const fresh = createUpstream(rpc.url)
  rpc.script((request) => result(request, "1"))
  expect(await call({ to: fresh })).toEqual({ kind: "result", result: 1 })
  await fresh.close()
  delete process.env["NODE_USE_ENV_PROXY"]
  if (before === undefined) delete process.env["HTTP_PROXY"]
  else process.env["HTTP_PROXY"] = before
})
