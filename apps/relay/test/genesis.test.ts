import { expect, test } from "vitest"
import { type Chain, describeChain, createChain } from "../src/chain.ts"
import type { UpstreamResponse } from "../src/upstream/upstream.ts"
import { checkChains } from "../src/providers.ts"
import { testRelay, testRpc } from "./fixture.ts"

const hash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
const result = (value: unknown): UpstreamResponse => ({ kind: "result", result: value })

test("a provider is asked for its chain on demand, once, and after a failure every ten seconds at most", async () => {
  const answers: UpstreamResponse[] = [{ kind: "timeout", started: true }, result(7), result(hash)]
  let calls = 0
  let time = 0
  const genesisHash = createChain({ call: async () => (calls++, answers.shift() ?? result("another")) }, () => time)
  expect(calls).toBe(0)
  for (const [at, found, asked] of [
    [0, undefined, 1],
    [9_999, undefined, 1],
    [10_000, undefined, 2],
    [20_000, hash, 3],
    [1_000_000, hash, 3],
  ] as const) {
    time = at
    expect([await Promise.all([genesisHash(), genesisHash()]), calls]).toEqual([[found, found], asked])
  }
})

test("a text that isn't a genesis hash says nothing about a provider's chain", async () => {
  const providers = [await testRpc(), await testRpc("ok")].map(({ url }, index) => ({ name: `provider ${index}`, url }))
  const { chains } = await checkChains(providers, () => 0)
  expect(chains.map(({ finding }) => finding?.verdict)).toEqual(["pass", undefined])
})

test("a public network has a name; only a chain on this machine has a faucet, which shows only the origin of its URL", () => {
  const at = (upstreamUrl: string, nodeEnv = "") => ({ upstreamUrl, nodeEnv })
  const local = at("http://localhost:8899/key-in-path")
  expect(describeChain(hash, local)).toEqual({ genesis_hash: hash, network: "mainnet" })
  expect(describeChain("own", local)).toEqual({ genesis_hash: "own", faucet: "http://localhost:8899" })
  expect(describeChain("own", at("https://rpc.example/secret"))).toEqual({ genesis_hash: "own" })
  expect(describeChain("own", at(local.upstreamUrl, "production"))).toEqual({ genesis_hash: "own" })
})

test("/health returns the chain on request, and asks the provider only then", async () => {
  const chain: Chain = { genesis_hash: hash, network: "mainnet" }
  let asked = 0
  const relay = await testRelay("http://127.0.0.1:9", { chain: async () => (asked++, chain) })
  const told = async (query: string) => (await relay.request(`/health${query}`, {})).body
  expect([await told(""), await told("?chain=false"), asked]).toEqual([
    expect.not.objectContaining({ transactions: expect.objectContaining({ chain }) as object }),
    expect.not.objectContaining({ transactions: expect.objectContaining({ chain }) as object }),
    0,
  ])
  expect(await told("?chain=true")).toMatchObject({ transactions: { chain } })
})
