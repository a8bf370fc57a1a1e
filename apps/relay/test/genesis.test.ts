import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { type Chain, describeChain, watchChain } from "../src/chain.ts"
import type { UpstreamAnswer } from "../src/upstream/upstream.ts"
import { startRelay } from "./fixture.ts"

const hash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
const result = (value: unknown): UpstreamAnswer => ({ kind: "result", result: value })

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

test("the provider is asked for its genesis hash until it can be reached, and never again", async () => {
  const answers: UpstreamAnswer[] = [
    { kind: "timeout", started: true },
    { kind: "transport-error", started: false },
    { kind: "http-error", status: 503 },
    result(hash),
  ]
  const methods: string[] = []
  const { genesisHash, stop } = watchChain({
    call: async ({ method }) => {
      methods.push(method)
      return answers.shift() ?? result("another")
    },
  })
  for (const waitMs of [0, 1000, 2000]) {
    await vi.advanceTimersByTimeAsync(waitMs)
    expect(genesisHash()).toBeUndefined()
  }
  await vi.advanceTimersByTimeAsync(4000)
  expect(genesisHash()).toBe(hash)
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(methods).toEqual(Array(4).fill("getGenesisHash"))
  stop()
})

test.each([result(7), result("not base58: 0OIl"), { kind: "malformed" } as const])(
  "a provider that answers %j tells no chain, and isn't asked again",
  async (answer) => {
    let calls = 0
    const { genesisHash } = watchChain({ call: async () => (calls++, answer) })
    await vi.advanceTimersByTimeAsync(1_000_000)
    expect([genesisHash(), calls]).toEqual([undefined, 1])
  },
)

test("a relay that has stopped asks nobody any more", async () => {
  let calls = 0
  const call = async (): Promise<UpstreamAnswer> => (calls++, { kind: "timeout", started: true })
  const { stop } = watchChain({ call })
  stop()
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(calls).toBe(1)
})

test("a public network is named; only a chain on this machine has a faucet, and no more of its URL than the origin", () => {
  const at = (upstreamUrl: string, nodeEnv = "") => ({ upstreamUrl, nodeEnv })
  const local = at("http://localhost:8899/key-in-path")
  expect(describeChain(hash, local)).toEqual({ genesis_hash: hash, network: "mainnet" })
  expect(describeChain("own", local)).toEqual({ genesis_hash: "own", faucet: "http://localhost:8899" })
  expect(describeChain("own", at("https://rpc.example/secret"))).toEqual({ genesis_hash: "own" })
  expect(describeChain("own", at(local.upstreamUrl, "production"))).toEqual({ genesis_hash: "own" })
})

test("/health tells the chain once it is known", async () => {
  vi.useRealTimers()
  let known: Chain | undefined
  const relay = await startRelay("http://127.0.0.1:9", { chain: () => known })
  const told = async () => (await relay.request("/health", {})).body
  expect(await told()).not.toHaveProperty("transactions.chain")
  known = { genesis_hash: hash, network: "mainnet" }
  expect(await told()).toMatchObject({ transactions: { chain: known } })
  await relay.close()
})
