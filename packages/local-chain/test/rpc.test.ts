import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import { createLocalChain } from "../src/index.ts"
import { memo, messageOf } from "@svc/testing/solana"
import { signed, startChain } from "./fixture.ts"

const chain = await startChain()
afterAll(chain.close)

const answer = async (body: string) => {
  const response = await chain.post(body)
  return { status: response.status, text: await response.text() }
}
const error = (code: number, id: unknown = null) => ({ jsonrpc: "2.0", id, error: { code } })

test.for([
  ["text that isn't JSON", "{", -32700],
  ["bytes that aren't UTF-8", Buffer.from([0x22, 0xff, 0x22]), -32700],
  ["a bare value", "1", -32600],
  ["an empty batch", "[]", -32600],
  ["a batch of more than 1,000", JSON.stringify(Array(1001).fill(1)), -32600],
  ["arrays nested too deep", "[".repeat(500_000), -32700],
  ["an integer of a million digits", `{"jsonrpc":"2.0","id":${"9".repeat(1_000_000)},"method":"getSlot"}`, -32700],
  ["another version", '{"jsonrpc":"1.0","id":1,"method":"getSlot"}', -32600, 1],
  ["no method", '{"jsonrpc":"2.0","id":1}', -32600, 1],
  ["a fractional id", '{"jsonrpc":"2.0","id":1.5,"method":"getSlot"}', -32600],
  ["an object id", '{"jsonrpc":"2.0","id":{},"method":"getSlot"}', -32600],
  ["an unknown method", '{"jsonrpc":"2.0","id":"a","method":"nope"}', -32601, "a"],
  ["a method of every object", '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601, 1],
  ["named parameters", '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":{}}', -32602, 1],
  ["too many parameters", '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{},1]}', -32602, 1],
  ["an unknown commitment", '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"commitment":"max"}]}', -32602, 1],
  [
    "a slot that isn't a u64",
    '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"minContextSlot":-1}]}',
    -32602,
    1,
  ],
  ["an invalid address", '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["x"]}', -32602, 1],
  [
    "a signature outside the alphabet",
    `{"jsonrpc":"2.0","id":1,"method":"getSignatureStatuses","params":[["${"0".repeat(88)}"]]}`,
    -32602,
    1,
  ],
] as const)("%s gets its JSON-RPC error", async ([, body, code, id]) => {
  const response = await chain.post(body as string)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject(error(code, id))
})

test("a parameter of another type is described in our own words", async () => {
  const wrong = async (commitment: unknown) => (await chain.call("getSlot", { commitment })).error.message
  expect(await wrong(7)).toBe("Invalid params: 0.commitment: must be one of processed, confirmed, finalized")
  expect((await chain.call("getBalance", 5)).error.message).toBe("Invalid params: 0: must be a string")
})

test("a batch gets one response per request in order, and none for notifications", async () => {
  const { text } = await answer(
    '[{"jsonrpc":"2.0","id":1,"method":"getGenesisHash"},{"jsonrpc":"2.0","method":"getGenesisHash"},{"jsonrpc":"2.0","id":2,"method":"nope"},5]',
  )
  expect(JSON.parse(text)).toMatchObject([{ id: 1, result: expect.any(String) }, error(-32601, 2), error(-32600)])
  expect(await answer('{"jsonrpc":"2.0","method":"getGenesisHash"}')).toEqual({ status: 204, text: "" })
  expect(await answer('[{"jsonrpc":"2.0","method":"nope"}]')).toEqual({ status: 204, text: "" })
})

test("numbers beyond 2^53 keep every digit, both ids and slots", async () => {
  const id = "9007199254740993"
  expect((await answer(`{"jsonrpc":"2.0","id":${id},"method":"getGenesisHash"}`)).text).toContain(`"id":${id},`)
  const slot = '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"minContextSlot":SLOT}]}'
  const code = async (text: string) => JSON.parse((await answer(slot.replace("SLOT", text))).text).error.code
  expect(await code("18446744073709551615")).toBe(-32016)
  expect(await code("18446744073709551616")).toBe(-32602)
})

test("HTTP that isn't a JSON-RPC call gets a plain response that says what is expected", async () => {
  const health = await fetch(`${chain.url}/health`)
  expect([health.status, await health.text()]).toEqual([200, "ok"])
  const page = await fetch(chain.url)
  expect([page.status, page.headers.get("allow")]).toEqual([405, "POST, OPTIONS"])
  expect((await chain.post("{}", { "content-type": "text/plain" })).status).toBe(415)
  expect((await chain.post(" ".repeat(8_000_000))).status).toBe(413)
  const preflight = await fetch(chain.url, { method: "OPTIONS" })
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"])
})

test("two chains with the same clock have the same genesis, blockhashes and faucet", () => {
  const ask = (method: string, ...params: unknown[]) =>
    createLocalChain({ now: () => 0 }).handle({ jsonrpc: "2.0", id: 1, method, params })
  for (const method of ["getGenesisHash", "getLatestBlockhash"]) expect(ask(method)).toEqual(ask(method))
  const airdrop = () => ask("requestAirdrop", "SysvarC1ock11111111111111111111111111111111", 1_000_000_000)
  expect(airdrop()).toEqual(airdrop())
})

test("a clock that is set back doesn't move the chain back", () => {
  let now = 1_000_000
  const { handle } = createLocalChain({ now: () => now })
  const slot = () => handle({ jsonrpc: "2.0", id: 1, method: "getSlot", params: [{ commitment: "processed" }] })
  now += 4000
  const ahead = slot()
  now -= 3_000_000
  expect(slot()).toEqual(ahead)
})

test("a chain that was idle for a year knows only its newest blockhashes", async () => {
  let now = 0
  const { handle } = createLocalChain({ now: () => now })
  const call = (method: string, ...params: unknown[]) =>
    handle({ jsonrpc: "2.0", id: 1, method, params }) as { result: any } // oxlint-disable-line typescript/no-explicit-any
  const { blockhash } = call("getLatestBlockhash").result.value
  now += 365 * 86_400_000
  const late = messageOf(await signed(await chain.fund(), [memo("late")], blockhash))
  expect(call("getFeeForMessage", late).result.value).toBeNull()
  expect(call("getBlockHeight", { commitment: "processed" }).result).toBe(32n + (365n * 86_400_000n) / 400n)
})

test("no JSON value breaks a method: a response with a result or an error comes back", () => {
  const { handle } = createLocalChain({ now: () => 0 })
  const methods = [
    "sendTransaction",
    "simulateTransaction",
    "getFeeForMessage",
    "getSignatureStatuses",
    "requestAirdrop",
    "getMultipleAccounts",
    "getBlock",
    "getBlocks",
    "getSlot",
  ]
  fc.assert(
    fc.property(fc.constantFrom(...methods), fc.array(fc.jsonValue(), { maxLength: 3 }), (method, params) => {
      const { error: refused, result } = handle({ jsonrpc: "2.0", id: 1, method, params }) as {
        error?: { code: number }
        result?: unknown
      }
      expect(refused === undefined ? result : refused.code).not.toBe(-32603)
    }),
    { numRuns: 500 },
  )
})
