import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createBenchmarkTable } from "./benchmark-table.ts"
import { compareLoads, load } from "./load.ts"
import { loadInTurns } from "./turns.ts"

let received: { method: string | undefined; type: string | undefined; body: string }[]
let status: number
const server = createServer((request: IncomingMessage, response) => {
  let body = ""
  request.setEncoding("utf8").on("data", (text: string) => (body += text))
  request.on("end", () => {
    received.push({ method: request.method, type: request.headers["content-type"], body })
    if (status === 0) request.socket.destroy()
    else response.writeHead(status, { "content-length": 0 }).end()
  })
})
let url: string
beforeEach(async () => {
  received = []
  status = 200
  await once(server.listen(0, "127.0.0.1"), "listening")
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterEach(async () => {
  const closed = once(server.close(), "close")
  server.closeAllConnections()
  await closed
})

test("a load without a body is a GET, one with a body a POST of JSON, another one each time where that is asked for", async () => {
  expect((await load({ url }, { connections: 2, seconds: 1 })).perSecond).toBeGreaterThan(0)
  expect(new Set(received.map(({ method }) => method))).toEqual(new Set(["GET"]))
  received = []
  await load({ url, body: '{"a":"[<id>]"}' }, { connections: 1, seconds: 1 })
  expect(received[0]).toMatchObject({ method: "POST", type: "application/json" })
  expect(new Set(received.map(({ body }) => body)).size).toBe(received.length)
})

test("a load that is refused is an error, not a number", async () => {
  status = 429
  await expect(load({ url }, { connections: 1, seconds: 1 })).rejects.toThrow("answers were no 2xx")
})

test("in turns each server is asked by itself, as often as it answers", async () => {
  const options = { connections: 2, turns: 2, milliseconds: 20 }
  const { pid } = process
  const get = { name: "get", pid, target: { url: `${url}get?a=1`, headers: [{ accept: "a/a" }, { accept: "a/b" }] } }
  const post = { name: "post", pid, target: { url: `${url}post`, body: '{"a":1}' } }
  const shares = await loadInTurns([get, post], options)
  expect(shares.map((share) => share.server.name)).toEqual(["get", "post"])
  for (const { perSecond } of shares) expect(perSecond).toBeGreaterThan(0)
  const methods = received.map(({ method, body }) => `${method} ${body}`)
  expect(new Set(methods)).toEqual(new Set(["GET ", 'POST {"a":1}']))
  // There and back: the second one twice in a row.
  expect(methods.filter((method, index) => method !== methods[index - 1])).toEqual(["GET ", 'POST {"a":1}', "GET "])
})

test("in turns too a refusal is an error, and so is a connection that is closed", async () => {
  const options = { connections: 1, turns: 1, milliseconds: 20 }
  const run = () => loadInTurns([{ target: { url }, pid: process.pid }], options)
  status = 429
  await expect(run()).rejects.toThrow("HTTP/1.1 429")
  status = 0
  await expect(run()).rejects.toThrow("was closed")
})

test("a comparison takes turns after a warm-up and gives the median of the rounds' ratios, and how far they lie apart", async () => {
  const turns: string[] = []
  const play = (name: string, rates: number[]) => () => {
    turns.push(name)
    return Promise.resolve({ perSecond: rates.shift() ?? 0, p50: 1, p99: 2 })
  }
  const compared = await compareLoads(play("ours", [0, 40, 50, 900, 60, 70]), play("bare", [0, 100, 1, 200, 100, 100]))
  expect(compared).toEqual({
    ours: { perSecond: 60, p50: 1, p99: 2 },
    bare: { perSecond: 100, p50: 1, p99: 2 },
    ratio: { perSecond: 0.7, p50: 1, p99: 1 },
    range: [0.4, 50],
  })
  expect(turns.join(" ")).toBe(Array(6).fill("bare ours").join(" "))
})

test("a table shows what missed its goal, and what is no number has missed it", () => {
  const table = createBenchmarkTable()
  table.add("information", 3, "MB")
  table.add("ratio", 0.61, "x", { atLeast: 0.6 })
  table.add("time", 12, "ms", { atMost: 12 })
  expect(table.met()).toBe(true)
  table.add("broken", Number.NaN, "x", { atLeast: 0 })
  expect(table.met()).toBe(false)
  expect(table.text().split("\n").slice(2)).toEqual([
    "| information | 3.00 MB |  |  |",
    "| ratio | 0.61 x | ≥ 0.6 |  |",
    "| time | 12.00 ms | ≤ 12 |  |",
    "| broken | NaN x | ≥ 0 | missed |",
  ])
})
