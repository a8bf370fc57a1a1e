import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { freePort } from "@svc/testing"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { callProvider } from "../src/providers.ts"
import { createUpstream, type Upstream, type UpstreamResponse } from "../src/upstream/upstream.ts"
import { type FakeRpc, http, raw, result, rpcError, type Script, startFakeRpc } from "./fake-rpc.ts"

let rpc: FakeRpc
let upstream: Upstream
let reported: string[]
beforeEach(async () => {
  rpc = await startFakeRpc()
  reported = []
  upstream = createUpstream(`${rpc.url}/rpc?api-key=secret`, (reason) => reported.push(reason))
})
afterEach(async () => {
  await upstream.close()
  await rpc.close()
})

const call = (options: { timeoutMs?: number; to?: Upstream } = {}): Promise<UpstreamResponse> =>
  (options.to ?? upstream).call({
    method: "getBlockHeight",
    params: [{ minContextSlot: JSON.rawJSON("18446744073709551615") }],
    timeoutMs: options.timeoutMs ?? 5000,
    maxResponseBytes: 1000,
  })

test("a call is one JSON-RPC POST to the whole URL, with identity encoding and exact u64 parameters", async () => {
  rpc.script((request) => result(request, "5"))
  expect(await call()).toEqual({ kind: "result", result: 5 })
  expect(rpc.requests).toHaveLength(1)
  const { head, text, id } = rpc.requests[0] ?? { head: "", text: "", id: 0 }
  expect(head).toMatch(/^POST \/rpc\?api-key=secret HTTP\/1\.1\r\n/)
  expect(head.toLowerCase()).toContain("content-type: application/json")
  expect(head.toLowerCase()).toContain("accept-encoding: identity")
  expect(text).toBe(
    `{"jsonrpc":"2.0","id":${id},"method":"getBlockHeight","params":[{"minContextSlot":18446744073709551615}]}`,
  )
})

test("user and password of the URL become the Authorization header of calls, and of the checks of start and doctor", async () => {
  const url = rpc.url.replace("http://", "http://me:p%40ss@")
  const withPassword = createUpstream(url)
  await call({ to: withPassword })
  await withPassword.close()
  await callProvider({ name: "the provider", url }, "getSlot")
  const header = `authorization: Basic ${Buffer.from("me:p@ss").toString("base64")}`
  expect(rpc.requests.map(({ head }) => head.includes(header))).toEqual([true, true])
})

const failure = (error: { code: number; message: string; data?: unknown }, status: number): UpstreamResponse => ({
  kind: "rpc-error",
  data: undefined,
  ...error,
  status,
  body: { jsonrpc: "2.0", id: expect.any(Number) as number, error },
})

/** A response with the request's id and these members. */
const rest =
  (members: string, status = 200): Script =>
  ({ id }) =>
    raw(`{"jsonrpc":"2.0","id":${id},${members}}`, status)
/** A response that breaks off. */
const half =
  (status: number, after: "end" | "reset"): Script =>
  () => ({ write: http(status, "a".repeat(100)).subarray(0, 90), after })
const httpError = (status: number): UpstreamResponse => ({ kind: "http-error", status })
const cutOff: UpstreamResponse = { kind: "transport-error", started: true }
const answers: Record<string, [Script, UpstreamResponse]> = {
  "a result": [(r) => result(r, '{"a":1}'), { kind: "result", result: { a: 1 } }],
  "error: null next to a result": [rest('"result":1,"error":null'), { kind: "result", result: 1 }],
  "an error": [
    (r) => rpcError(r, { code: -32005, data: { a: 1 } }),
    failure({ code: -32005, message: "", data: { a: 1 } }, 200),
  ],
  "an error under status 500": [(r) => rpcError(r, { code: -32002 }, 500), failure({ code: -32002, message: "" }, 500)],
  ...Object.fromEntries(
    [401, 403, 404, 405, 413, 415, 429].map((status): [string, [Script, UpstreamResponse]] => [
      `an error under status ${status}`,
      [(r) => rpcError(r, { code: -32602 }, status), httpError(status)],
    ]),
  ),
  "a 429 whose body breaks off": [half(429, "reset"), httpError(429)],
  "a result under status 500": [rest('"result":1', 500), httpError(500)],
  "a redirect": [() => ({ write: http(307, "", { location: "/elsewhere" }), after: "keep" }), httpError(307)],
  "an error with another id": [
    () => raw('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}', 400),
    httpError(400),
  ],
  "a rejection with a body over the limit": [() => raw("a".repeat(2000), 403), httpError(403)],
  "a reset after reading": [() => ({ after: "reset" }), cutOff],
  "an end without a response": [() => ({ after: "end" }), cutOff],
  "half a response": [half(200, "end"), cutOff],
  "no HTTP at all": [() => ({ write: "SSH-2.0-x\r\n", after: "keep" }), cutOff],
}
const malformed: Record<string, Script> = {
  "an error that has a message twice": rest('"error":{"code":-32602,"message":"known","message":""}'),
  "both result and error": rest('"result":null,"error":{"code":1,"message":""}'),
  "neither result nor error": ({ id }) => raw(`{"jsonrpc":"2.0","id":${id}}`),
  "another id": ({ id }) => raw(`{"jsonrpc":"2.0","id":${id + 1},"result":1}`),
  "our id as a string": ({ id }) => raw(`{"jsonrpc":"2.0","id":"${id}","result":1}`),
  "a batch": ({ id }) => raw(`[{"jsonrpc":"2.0","id":${id},"result":1}]`),
  "an error without a code": (r) => rpcError(r, {}),
  "an error with a broken code": (r) => rpcError(r, { code: -32002.5 }),
  "an error that is text": rest('"error":"no"'),
  "a page": () => raw("<html>"),
  nothing: () => raw(""),
  "bytes that are not UTF-8": () => raw(Buffer.from([0x22, 0xff, 0x22])),
  "a body over the cap": (r) => result(r, `"${"a".repeat(1000)}"`),
}

test.each([
  ...Object.entries(answers),
  ...Object.entries(malformed).map(([name, script]) => [name, [script, { kind: "malformed" }]] as const),
])("%s is read correctly, after one request", async (_name, [script, expected]) => {
  rpc.script(script)
  expect(await call()).toEqual(expected)
  expect(rpc.requests).toHaveLength(1)
})

const packers = { gzip: gzipSync, "x-gzip": gzipSync, deflate: deflateSync, br: brotliCompressSync }
const packed = (body: string | Buffer, encoding: string, status = 200) => ({
  write: http(status, body, { "content-encoding": encoding }),
  after: "keep" as const,
})

test("a compressed response is read although none is requested: gzip, both forms of deflate, br, or several", async () => {
  const text = ({ id }: { id: number }, json: string) => `{"jsonrpc":"2.0","id":${id},"result":${json}}`
  for (const [encoding, pack] of Object.entries(packers)) {
    rpc.script((r) => packed(pack(text(r, "7")), encoding.toUpperCase()))
    expect([encoding, await call()]).toEqual([encoding, { kind: "result", result: 7 }])
    rpc.script((r) => packed(pack(text(r, `"${"a".repeat(2000)}"`)), encoding))
    expect([encoding, await call()]).toEqual([encoding, { kind: "malformed" }])
  }
  rpc.script((r) => packed(deflateRawSync(text(r, "8")), "deflate"))
  expect(await call()).toEqual({ kind: "result", result: 8 })
  rpc.script((r) => packed(brotliCompressSync(gzipSync(text(r, "9"))), "identity, gzip, br"))
  expect(await call()).toEqual({ kind: "result", result: 9 })
  expect(reported).toEqual(Array(4).fill("the unpacked body is over 1000 bytes"))
})

test("a body in another encoding, a damaged one and a bomb are malformed, and the reason is reported", async () => {
  const bomb = gzipSync(Buffer.alloc(900_000))
  for (const [body, encoding, reason] of [
    ["{}", "zstd", 'the body has the content encoding "zstd"'],
    ["{}", "gzip", "the body isn't valid gzip"],
    [gzipSync("{}").subarray(0, -4), "gzip", "the body isn't valid gzip"],
    ["", "br", "the body isn't valid br"],
    [gzipSync(bomb), "gzip, gzip", "the unpacked body is over 1000 bytes"],
    ["{}", "gzip, gzip, gzip, gzip, gzip", "the body has 5 content encodings"],
    ["a".repeat(1001), "gzip", "the body is over 1000 bytes"],
  ] as const) {
    rpc.script(() => packed(body, encoding))
    expect([encoding, await call()]).toEqual([encoding, { kind: "malformed" }])
    expect(reported.pop()).toBe(reason)
  }
  rpc.script(() => packed("{}", "zstd", 429))
  expect([await call(), reported]).toEqual([{ kind: "http-error", status: 429 }, ["HTTP status 429"]])
})

test("a call to a stalled provider ends at the deadline, even during the response, and counts as started", async () => {
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

test("without a connection the request hasn't started", async () => {
  const refused = createUpstream(`http://127.0.0.1:${await freePort()}`)
  expect(await call({ to: refused })).toEqual({ kind: "transport-error", started: false })
  await refused.close()
  const unknownHost = createUpstream("http://nowhere.invalid")
  expect(await call({ to: unknownHost })).toEqual({ kind: "transport-error", started: false })
  await unknownHost.close()
})

test("a failed or silent TLS handshake doesn't start the request, and nothing is sent later", async () => {
  const tls = createUpstream(rpc.url.replace("http:", "https:"))
  rpc.onConnect("reset")
  expect(await call({ to: tls })).toEqual({ kind: "transport-error", started: false })
  rpc.onConnect("silence")
  expect(await call({ to: tls, timeoutMs: 50 })).toEqual({ kind: "timeout", started: false })
  await tls.close()
  expect(rpc.requests).toHaveLength(0)
})

test("a call that ends during the connection attempt never leaves, even if the connection succeeds", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const given = call({ timeoutMs: 10 })
  vi.advanceTimersByTime(10)
  vi.useRealTimers()
  expect(await given).toEqual({ kind: "timeout", started: false })
  rpc.script((request) => result(request, "2"))
  expect(await call()).toEqual({ kind: "result", result: 2 })
  expect(rpc.requests).toHaveLength(1)
})

test("a request on a kept connection that breaks isn't repeated", async () => {
  rpc.script((request) => result(request, "1"))
  await call()
  rpc.script(() => ({ after: "reset" }))
  expect(await call()).toEqual({ kind: "transport-error", started: true })
  expect(rpc.requests).toHaveLength(2)
  rpc.script((request) => result(request, "2"))
  expect(await call()).toEqual({ kind: "result", result: 2 })
})

test("the environment's proxy isn't used", async () => {
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
