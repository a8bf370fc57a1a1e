import { connect } from "node:net"
import { createLocalLimits } from "@svc/limits"
import fc from "fast-check"
import { afterEach, expect, test } from "vitest"
import { createAdmission } from "../src/admission.ts"
import { readConfig } from "../src/config.ts"
import { routes } from "../src/routes/table.ts"
import { result } from "./fake-rpc.ts"
import { fileRpc, startIssuer, testRelay } from "./fixture.ts"
import { anyTransaction } from "./transactions.ts"

const rpc = fileRpc()
const issuer = await startIssuer()
let clock = 0
const now = () => clock
const timeoutMs = { inspect: 1000, status: 1000, send: 1000 }
afterEach(() => {
  rpc.cut()
  rpc.requests.length = 0
})

const answerAll = () => rpc.script((r) => result(r, r.method === "getBlockHeight" ? "1" : '{"value":[null]}'))
const perMinute = (inspect: number, send: number, status: number) => ({
  SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: String(inspect),
  SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: String(send),
  SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: String(status),
})
const trusted = [{ address: "127.0.0.0", prefix: 8, family: "ipv4" as const }]
const from = (address: string) => ({ "x-forwarded-for": address })

test("each class has a bucket per address, which is free again a minute later", async () => {
  answerAll()
  const relay = await testRelay(rpc.url, { env: perMinute(1, 1, 2), now })
  const codes = async (route: string, times: number) => {
    const all = []
    for (let i = 0; i < times; i++) all.push((await relay.post(route, {})).status)
    return all
  }
  expect(await codes("block-height", 3)).toEqual([200, 200, 429])
  expect(await codes("signature-status", 1)).toEqual([429])
  expect(await codes("latest-blockhash", 2)).toEqual([502, 429])
  expect(await codes("fee", 1)).toEqual([429])
  expect(await codes("simulate", 1)).toEqual([429])
  expect(await codes("send", 2)).toEqual([400, 429])
  const refused = await relay.post("send", {})
  expect(refused).toMatchObject({ body: { code: "rate_limit_exceeded", retryable: true } })
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(61)
  clock += 61_000
  expect(await codes("block-height", 1)).toEqual([200])
})

test("each concurrency setting limits one class, and each class has one", async () => {
  const { concurrency, perMinute: rates } = await readConfig({})
  const refused = await Promise.all(
    Object.keys(concurrency).map(async (closed) => {
      const places = Object.fromEntries(Object.keys(concurrency).map((name) => [name, name === closed ? 0 : 10]))
      const settings = { concurrency: { ...concurrency, ...places }, perMinute: rates, timeoutMs }
      const admission = createAdmission(settings, createLocalLimits({ now }))
      const tried = routes.map(async ({ class: of, operation }) => {
        const entered = await admission
          .begin(of, "192.0.2.1")
          .enter({})
          .then(
            () => true,
            () => false,
          )
        return entered ? [] : [operation]
      })
      return (await Promise.all(tried)).flat()
    }),
  )
  expect(refused.filter((operations) => operations.length === 0)).toEqual([])
  expect(refused.flat().toSorted()).toEqual(routes.map(({ operation }) => operation).toSorted())
})

test("addresses differ only behind a trusted proxy, and IPv6 addresses by their /64", async () => {
  answerAll()
  const relay = await testRelay(rpc.url, { env: perMinute(9, 9, 1), now, trusted })
  const status = async (headers: Record<string, string>, by = relay) =>
    (await by.post("block-height", {}, headers)).status
  expect(await status(from("192.0.2.1"))).toBe(200)
  expect(await status(from("192.0.2.2"))).toBe(200)
  expect(await status(from("192.0.2.1"))).toBe(429)
  expect(await status(from("::ffff:192.0.2.2"))).toBe(429)
  expect(await status(from("198.51.100.9, 192.0.2.1"))).toBe(429)
  expect(await status(from("2001:db8:0:1::1"))).toBe(200)
  expect(await status(from("2001:db8:0:1:ffff::2"))).toBe(429)
  expect(await status(from("2001:db8:0:2::1"))).toBe(200)
  const untrusting = await testRelay(rpc.url, { env: perMinute(9, 9, 1), now })
  expect(await status(from("192.0.2.1"), untrusting)).toBe(200)
  expect(await status(from("192.0.2.2"), untrusting)).toBe(429)
})

test("a subject has the lower of setting and claim, over all its addresses, separately for each class of key", async () => {
  answerAll()
  const relay = await testRelay(rpc.url, { env: perMinute(9, 9, 4), now, auth: issuer.plugin, trusted })
  const limits = { max_transaction_status_requests_per_minute: 2 }
  const secret = await issuer.bearer({ limits })
  const publishable = await issuer.bearer({ limits, key_class: "publishable" })
  const unlimited = await issuer.bearer({ sub: "agent:bob" })
  let address = 0
  const statuses = async (headers: Record<string, string>, times: number) => {
    const all = []
    for (let i = 0; i < times; i++) {
      all.push((await relay.post("block-height", {}, { ...headers, ...from(`192.0.2.${++address}`) })).status)
    }
    return all
  }
  expect(await statuses(secret, 3)).toEqual([200, 200, 429])
  expect(await statuses(publishable, 3)).toEqual([200, 200, 429])
  expect(await statuses(unlimited, 5)).toEqual([200, 200, 200, 200, 429])
  expect(
    await statuses(await issuer.bearer({ limits: { max_transaction_status_requests_per_minute: 99 } }), 3),
  ).toEqual([200, 200, 429])
})

test("a setting or claim of 0 rejects everything, with Retry-After 60", async () => {
  answerAll()
  const relay = await testRelay(rpc.url, { env: perMinute(0, 9, 9), now, auth: issuer.plugin })
  const none = await relay.post("fee", {})
  expect([none.status, none.headers.get("retry-after")]).toEqual([429, "60"])
  const claims = [
    { limits: { max_transaction_status_requests_per_minute: 0 }, status: 429 },
    { limits: { max_transaction_concurrency: 0 }, status: 503 },
  ]
  for (const { limits, status } of claims) {
    const answer = await relay.post("block-height", {}, await issuer.bearer({ limits }))
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, "60"])
  }
})

test("claims also lower the sizes", async () => {
  const relay = await testRelay(rpc.url, { auth: issuer.plugin })
  const body = { transaction: "AAAA" }
  const small = await issuer.bearer({ limits: { max_transaction_request_bytes: 10 } })
  expect((await relay.post("send", body, small)).body.code).toBe("request_too_large")
  const short = await issuer.bearer({ limits: { max_transaction_bytes: 2 } })
  expect((await relay.post("send", body, short)).body.code).toBe("transaction_too_large")
  const high = await issuer.bearer({ limits: { max_transaction_request_bytes: 1e9, max_transaction_bytes: 1e9 } })
  expect((await relay.post("send", { transaction: "A".repeat(5000) }, high)).body.code).toBe("request_too_large")
})

test("places of send and of other routes are separate, granted without waiting, and free again after the response", async () => {
  rpc.script(() => ({ after: "stall" }))
  const relay = await testRelay(rpc.url, {
    env: { SVC_TRANSACTION_INSPECT_CONCURRENCY: "2", SVC_TRANSACTION_SEND_CONCURRENCY: "1" },
  })
  const wire = await anyTransaction()
  const held = [
    relay.post("block-height", {}),
    relay.post("latest-blockhash", {}),
    relay.post("send", { transaction: wire }),
  ]
  await rpc.received(3)
  for (const [route, body] of [
    ["block-height", {}],
    ["fee", { message: "AAAA" }],
    ["send", { transaction: wire }],
  ] as const) {
    const busy = await relay.post(route, body)
    expect(busy).toMatchObject({ status: 503, body: { code: "server_busy", retryable: true } })
    expect(busy.headers.get("x-svc-upstream-attempted")).toBe("false")
  }
  expect((await relay.request("/health", { method: "GET" })).status).toBe(200)
  rpc.cut()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([502, 502, 502])
  answerAll()
  expect((await relay.post("block-height", {})).status).toBe(200)
})

test("a subject's claim limits only its own places", async () => {
  rpc.script(() => ({ after: "stall" }))
  const relay = await testRelay(rpc.url, { auth: issuer.plugin })
  const alice = await issuer.bearer({ limits: { max_transaction_concurrency: 1 } })
  const held = relay.post("block-height", {}, alice)
  await rpc.received(1)
  expect((await relay.post("fee", { message: "AAAA" }, alice)).body.code).toBe("server_busy")
  const wire = await anyTransaction()
  const others = [
    relay.post("send", { transaction: wire }, alice),
    relay.post("fee", { message: "AAAA" }, await issuer.bearer({ sub: "agent:bob" })),
  ]
  await rpc.received(3)
  rpc.cut()
  expect((await Promise.all([held, ...others])).map(({ status }) => status)).toEqual([502, 502, 502])
})

test("a body that doesn't arrive occupies no place", async () => {
  answerAll()
  const relay = await testRelay(rpc.url, { env: { SVC_TRANSACTION_INSPECT_CONCURRENCY: "1" } })
  const head = "POST /transactions/v1/block-height HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
  const slow = Array.from({ length: 5 }, () => connect(relay.port, "127.0.0.1"))
  await Promise.all(
    slow.map(
      (socket) => new Promise<void>((resolve) => socket.write(`${head}Content-Length: 2\r\n\r\n{`, () => resolve())),
    ),
  )
  expect((await relay.post("block-height", {})).status).toBe(200)
  for (const socket of slow) socket.destroy()
})

test("a flood from new addresses rejects no valid token, not even of its neighbours, and gets no more requests", async () => {
  const settings = { perMinute: { inspect: 9, status: 9, send: 2 }, concurrency: { inspect: 9, send: 9 }, timeoutMs }
  const admission = createAdmission(settings, createLocalLimits({ now: () => 0, maxBuckets: 50 }))
  const network = (site: string, subnet: number) => `20010db8${site}${subnet.toString(16).padStart(4, "0")}/64`
  const passes = async (address: string, sub?: string): Promise<boolean> => {
    try {
      await admission.begin("send", address).count(sub === undefined ? undefined : { sub, key_class: "secret" })
      return true
    } catch (error) {
      expect(error).toMatchObject({ code: "rate_limit_exceeded" })
      return false
    }
  }
  let flooded = 0
  for (let i = 0; i < 5000; i++) if (await passes(network("0000", i))) flooded++
  // Two each for 50 addresses, and for 10 prefixes of each length.
  expect(flooded).toBeLessThanOrEqual(2 * (50 + 3 * 10))
  for (const address of ["192.0.2.1", network("0001", 0), network("0000", 60_000)]) {
    const subject = `agent:${address}`
    expect([await passes(address, subject), await passes(address, subject)]).toEqual([true, true])
    expect(await passes(address, subject)).toBe(false)
  }
  expect(await passes(network("0000", 60_001))).toBe(false)
})

test("places never exceed the limit and are never lost, in any order of requests", async () => {
  const step = fc.record({
    kind: fc.constantFrom("send" as const, "inspect" as const, "status" as const),
    who: fc.nat(2),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(step, fc.constant("leave" as const)), { maxLength: 100 }), async (steps) => {
      const minute = { inspect: 999, status: 999, send: 999 }
      const settings = { perMinute: minute, concurrency: { inspect: 3, send: 2 }, timeoutMs }
      const admission = createAdmission(settings, createLocalLimits({ now: () => 0 }))
      const inside: { pool: string; who: number; leave: () => void }[] = []
      for (const next of steps) {
        if (next === "leave") {
          inside.shift()?.leave()
          continue
        }
        const pool = next.kind === "send" ? "send" : "inspect"
        const free = inside.filter((one) => one.pool === pool).length < settings.concurrency[pool]
        const own = inside.filter((one) => one.pool === pool && one.who === next.who).length < 1
        const caller = { sub: `${next.who}`, limits: { max_transaction_concurrency: 1 } }
        const request = admission.begin(next.kind, "a")
        const entered = request.enter(caller)
        if (free && own) {
          await entered
          inside.push({ pool, who: next.who, leave: request.leave })
        } else await expect(entered).rejects.toMatchObject({ code: "server_busy" })
      }
    }),
  )
})
