import fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createReads } from "../src/upstream/reads.ts"
import { blockHeight } from "../src/routes/reads.ts"
import type { UpstreamResponse } from "../src/upstream/upstream.ts"
import { type FakeRpc, http, raw, result, rpcError, type Script, startFakeRpc } from "./fake-rpc.ts"
import { type Relay, testRelay } from "./fixture.ts"
import { firstSignatureOf } from "@svc/testing/solana"
import { anyTransaction } from "./transactions.ts"
import { base58 } from "@svc/common/base58"

let rpcs: FakeRpc[]
let clock: number
beforeEach(async () => {
  clock = 0
  rpcs = await Promise.all([startFakeRpc(), startFakeRpc(), startFakeRpc()])
  for (const [index, rpc] of rpcs.entries()) rpc.script((r) => result(r, String(index)))
})
afterEach(() => Promise.all(rpcs.map((rpc) => rpc.close())))

const rpc = (index: number): FakeRpc => rpcs[index] ?? expect.fail("no such provider")
const start = async (env: Record<string, string> = {}, fallbacks = rpcs.slice(1)): Promise<Relay> => {
  const SVC_TRANSACTION_READ_FALLBACK_URLS = fallbacks
    .map(({ url }) => `${url}/fallback-key-${url.slice(-4)}`)
    .join(", ")
  return testRelay(rpc(0).url, { now: () => clock, env: { SVC_TRANSACTION_READ_FALLBACK_URLS, ...env } })
}
const height = async (of: Relay): Promise<string> => {
  const { status, body } = await of.post("block-height", {})
  return status === 200 ? body.blockHeight : `${status} ${String(body.code)}`
}
const asked = (): number[] => rpcs.map(({ requests }) => requests.length)

const failures: Record<string, Script> = {
  "a reset": () => ({ after: "reset" }),
  "no HTTP": () => ({ write: "SSH-2.0-x\r\n", after: "end" }),
  "no JSON-RPC": () => raw("<html>"),
  "a response that isn't a block height": (r) => result(r, '"7"'),
  ...Object.fromEntries(
    [401, 402, 403, 404, 408, 429, 500, 502, 503, 599].flatMap((status): [string, Script][] => [
      [`${status}`, () => raw("", status)],
      [`${status} with a JSON-RPC error`, (r) => rpcError(r, { code: -32005 }, status)],
    ]),
  ),
}

test.each(Object.entries(failures))("after %s from the first provider the next one responds", async (_, script) => {
  rpc(0).script(script)
  expect(await height(await start())).toBe("1")
  expect(asked()).toEqual([1, 1, 0])
})

test.each([
  ["7", "7"],
  ["0", "1"],
  ["86400", "60"],
  ["Fri, 01 Jan 2027 00:00:07 GMT", "7"],
  ["Thu, 31 Dec 2026 23:00:00 GMT", "1"],
  ["soon GMT", null],
  ["-7", null],
  [undefined, null],
])("of a rate limit's Retry-After %s from a provider a reader gets %s, and a sender nothing", async (said, told) => {
  const headers: Record<string, string> = {
    date: "Fri, 01 Jan 2027 00:00:00 GMT",
    ...(said !== undefined && { "retry-after": said }),
  }
  rpc(0).script(() => ({ write: http(429, "", headers), after: "keep" }))
  const relay = await start({}, [])
  const read = await relay.post("block-height", {})
  expect([read.status, read.body.code, read.headers.get("retry-after")]).toEqual([502, "upstream_unavailable", told])
  const sent = await relay.post("send", { transaction: await anyTransaction() })
  expect([sent.body.submissionState, sent.headers.get("retry-after")]).toEqual(["not_submitted", null])
})

test("a refused connection and a silent provider lead to the next one, the silent one after its share of the time", async () => {
  await rpc(0).close()
  const open = await start({ SVC_TRANSACTION_STATUS_TIMEOUT_MS: "600" })
  rpc(1).script(() => ({ after: "stall" }))
  expect(await height(open)).toBe("2")
  expect(asked()).toEqual([0, 1, 1])
})

test("a JSON-RPC error, and a status that says that the request is wrong, lead to no other provider", async () => {
  const open = await start()
  for (const script of [
    (r) => rpcError(r, { code: -32016 }),
    (r) => rpcError(r, { code: -32602 }, 400),
    ...[400, 405, 413, 415, 301, 307].map((status): Script => () => ({ write: http(status, ""), after: "keep" })),
    ...[405, 413, 415].map(
      (status): Script =>
        (r) =>
          rpcError(r, { code: -32005 }, status),
    ),
  ] satisfies Script[]) {
    rpc(0).script(script)
    expect(await height(open)).toMatch(/^502 upstream_/)
  }
  expect(asked()).toEqual([11, 0, 0])
})

test("a rate limit is retryable, by its status, its code or its text; other rejections by status aren't", async () => {
  const open = await start({}, [])
  const limited: [Script, string, boolean][] = [
    [(r) => rpcError(r, { code: -32602 }, 429), "upstream_unavailable", true],
    [() => raw("no", 429), "upstream_unavailable", true],
    [(r) => rpcError(r, { code: 429 }), "upstream_rpc_error", true],
    [(r) => rpcError(r, { code: -32429 }), "upstream_rpc_error", true],
    [(r) => rpcError(r, { code: -32007 }), "upstream_rpc_error", false],
    ...[
      [-32007, "15/second request limit reached - reduce calls per second or upgrade your account"],
      [-32029, "rate limit exceeded"],
      [-32000, '429 Too Many Requests: {"error":{"message":"over rate limit"}}'],
      [-32600, "You are being rate-limited"],
    ].map(([code, message]): [Script, string, boolean] => [
      (r) => rpcError(r, { code, message }),
      "upstream_rpc_error",
      true,
    ]),
    ...[401, 403, 404, 405, 413, 415].map((status): [Script, string, boolean] => [
      (r) => rpcError(r, { code: -32005 }, status),
      "upstream_unavailable",
      false,
    ]),
  ]
  for (const [script, code, retryable] of limited) {
    rpc(0).script(script)
    expect((await open.post("block-height", {})).body).toMatchObject({ code, retryable })
  }
})

test("the log has the reason of each failed call: status, refused connection, timeout, invalid result", async () => {
  const open = await start({}, [rpc(1)])
  const reasons = async (...scripts: readonly Script[]) => {
    for (const [index, script] of scripts.entries()) rpc(index).script(script)
    await height(open)
    return scripts.map((_, index) => {
      const name = index === 0 ? "first" : "fallback-1"
      const [fields, text] = [open.lines.findLast((line) => Object(Object(line)[0])["provider"] === name)].flat()
      return text === "a call to a provider failed" ? Object(fields)["reason"] : text
    })
  }
  expect(
    await reasons(
      () => raw("no", 503),
      (r) => result(r, '"5"'),
    ),
  ).toEqual(["HTTP status 503", "the result of getBlockHeight isn't valid at blockHeight"])
  expect(
    await reasons(
      () => ({ after: "reset" }),
      () => raw("<html>"),
    ),
  ).toEqual(["ECONNRESET", "the body isn't a JSON-RPC response to the call"])
  expect(await reasons(() => ({ write: "SSH-2.0-OpenSSH_9.9\r\n", after: "keep" }))).toEqual(["HTTPParserError"])
})

test("if no provider responds, the error is the last failure, without an address", async () => {
  const open = await start()
  for (const { script } of rpcs) script(() => raw("", 503))
  rpc(2).script((r) =>
    rpcError(r, { code: -32005, message: `${rpc(2).url} /fallback-key-${rpc(2).url.slice(-4)}` }, 503),
  )
  const { status, body, text } = await open.post("block-height", {})
  expect([status, body.code, body.details.code]).toEqual([502, "upstream_rpc_error", -32005])
  expect(text).not.toMatch(/127\.0\.0\.1|fallback-key/)
  expect(asked()).toEqual([1, 1, 1])
})

test("with fallbacks, /health shows which provider responded last", async () => {
  const open = await start()
  const answering = async () => (await open.request("/health", { method: "GET" })).body.transactions
  expect(await answering()).toEqual({ enabled: true, answering: "first" })
  rpc(0).script(() => raw("", 503))
  await height(open)
  expect(await answering()).toEqual({ enabled: true, answering: "fallback-1" })
  const alone = await start({ SVC_TRANSACTION_READ_FALLBACK_URLS: "" })
  expect((await alone.request("/health", { method: "GET" })).body.transactions).toEqual({ enabled: true })
})

test("a send goes only to its URL, once, whatever the response, and reads never go there", async () => {
  const transaction = await anyTransaction()
  const open = await start({ SVC_TRANSACTION_SEND_URL: rpc(2).url }, [rpc(1)])
  rpc(2).script((r) => result(r, JSON.stringify(base58(firstSignatureOf(transaction)))))
  expect((await open.post("send", { transaction })).status).toBe(200)
  for (const script of [
    () => raw("", 503),
    () => ({ after: "reset" }),
    (r) => rpcError(r, { code: -32005 }),
  ] satisfies Script[]) {
    rpc(2).script(script)
    expect((await open.post("send", { transaction })).status).toBe(502)
  }
  rpc(0).script(() => raw("", 503))
  rpc(1).script(() => raw("", 503))
  expect(await height(open)).toBe("502 upstream_unavailable")
  expect(asked()).toEqual([1, 1, 4])
})

test("a send without its own URL goes only to the first provider, however it fails", async () => {
  const transaction = await anyTransaction()
  const open = await start()
  rpc(0).script(() => raw("", 503))
  for (let i = 0; i < 3; i++) expect((await open.post("send", { transaction })).body.submissionState).toBe("unknown")
  expect(asked()).toEqual([3, 0, 0])
})

test("a failed provider is asked last for 10 s, of several the oldest failure first, and a success ends that", async () => {
  const step = fc.record({
    wait: fc.constantFrom(0, 1, 5000, 9999, 10_000),
    fails: fc.subarray([0, 1, 2, 3]),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      let time = 0
      let order: number[] = []
      let failing: readonly number[] = []
      const upstreams = [0, 1, 2, 3].map((index) => ({
        call: async (): Promise<UpstreamResponse> => {
          order.push(index)
          time += 1
          return failing.includes(index) ? { kind: "http-error", status: 503 } : { kind: "result", result: index }
        },
        report: () => {},
        close: async () => {},
      }))
      const reads = createReads(upstreams, () => time)
      const failedAt = new Map<number, number>()
      for (const { wait, fails } of steps) {
        time += wait
        order = []
        failing = fails
        const recent = [...failedAt].filter(([, at]) => time - at < 10_000).sort(([, a], [, b]) => a - b)
        const last = recent.map(([index]) => index)
        const expected = [...[0, 1, 2, 3].filter((index) => !last.includes(index)), ...last]
        const until = expected.findIndex((index) => !fails.includes(index))
        const started = time
        await reads.ask({ ...blockHeight, read: (value) => value }, [], 1000, () => {})
        expect(order).toEqual(until === -1 ? expected : expected.slice(0, until + 1))
        for (const [place, index] of order.entries()) failedAt.set(index, started + place + 1)
        const answered = order.at(-1)
        if (until !== -1 && answered !== undefined) {
          failedAt.delete(answered)
          expect(reads.answering()).toBe(answered)
        }
      }
    }),
  )
})
