import { afterEach, beforeEach, expect, test } from "vitest"
import { createBenchmarkTable } from "./benchmark-table.ts"
import { loadInRounds } from "./load.ts"
import { startReceiver } from "./receiver.ts"

let receiver: Awaited<ReturnType<typeof startReceiver>>
let url: string
let status: number
beforeEach(async () => {
  status = 200
  receiver = await startReceiver()
  url = receiver.url
  receiver.answer((_, response) => {
    if (status === 0) response.destroy()
    else response.writeHead(status, { "content-length": 2 }).end("ok")
  })
})
afterEach(() => receiver.close())
const received = (): string[] =>
  receiver.received.map(
    ({ method, url: path, headers, body }) => `${method} ${path} ${headers.accept ?? ""}${String(body)}`,
  )
const { pid } = process

test("servers are asked in turns, there and back, exactly as often as told, and the first round is warm-up", async () => {
  const get = { pid, url: `${url}/get?a=1`, headers: [{ accept: "a/a" }, { accept: "a/b" }] }
  const post = { pid, url: `${url}/post`, body: '{"a":1}' }
  const rounds = await loadInRounds([get, post], { connections: 2, requests: 10, rounds: 2 })
  expect(rounds.map((loads) => loads.length)).toEqual([2, 2])
  for (const load of rounds.flat()) for (const value of Object.values(load)) expect(value).toBeGreaterThanOrEqual(0)
  expect(new Set(received())).toEqual(new Set(["GET /get?a=1 a/a", "GET /get?a=1 a/b", 'POST /post {"a":1}']))
  const methods = received().map((one) => one.split(" ")[0])
  const batches = methods.filter((method, index) => method !== methods[index - 1])
  expect([methods.length, batches]).toEqual([60, ["GET", "POST", "GET", "POST"]])
})

test("a body that is made anew differs in each request", async () => {
  let made = 0
  const body = (): string => String(made++)
  await loadInRounds([{ pid, url: `${url}/`, body }], { connections: 1, requests: 3, rounds: 0 })
  expect(received()).toEqual(["POST / 0", "POST / 1", "POST / 2"])
})

test("a response that is no 2xx is an error and no number, and so is a closed connection", async () => {
  const run = () => loadInRounds([{ pid, url: `${url}/` }], { connections: 1, requests: 1, rounds: 1 })
  status = 429
  await expect(run()).rejects.toThrow("HTTP/1.1 429")
  status = 0
  await expect(run()).rejects.toThrow("was closed")
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
