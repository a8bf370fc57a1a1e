import { generateKeyPairSigner } from "@solana/kit"
import { expect, test, vi } from "vitest"
import { createStack } from "../src/stack/stack.ts"
import { createClosing, mintToken, openRaw, startPlatform, startStream } from "./fixture.ts"
import { deploy, gameAst, roundData, startScriptedRpc } from "./game.ts"

const closing = createClosing()
const newAddress = async () => (await generateKeyPairSigner()).address

test("a large stack's unsupported features are listed; the rest follows the blocks", async () => {
  const [game, oracle, round, oracleVar] = await Promise.all([newAddress(), newAddress(), newAddress(), newAddress()])
  const ast = gameAst(game, oracle)
  const { unsupported } = createStack(ast, { name: "game", version: 1 }, "epoch").plan
  expect(unsupported.map(({ what, uses }) => `${what} uses ${uses}`).toSorted()).toEqual([
    "field Round.oracle.url uses the resolver url",
    "field Round.oracle.value uses PdaReverseLookup",
    "field Round.results.rng uses JsonToBytes",
    "field Round.results.square uses MethodCall",
    "field Round.state.__raw uses stop",
    "field Round.state.ui uses ResolverComputed",
    "field Round.token uses the resolver token",
    "view Round/grouped uses GroupBy",
  ])

  const platform = closing(await startPlatform({ game: ast }))
  const rpc = closing(await startScriptedRpc())
  const big = 18_000_000_000_000_000_001n
  rpc.put(round, { owner: game, data: roundData(41n, [1n, 2n, big], 500n) })
  rpc.put(oracleVar, { owner: oracle, data: Uint8Array.of(1, 9, 9, 9, 9) })
  await rpc.add(2, deploy(game, rpc.payer, round, oracleVar, 5n))
  const stream = closing(await startStream({ apiUrl: platform.url, rpcUrl: rpc.url }))
  const client = closing(await openRaw(stream.url("game"), { token: await mintToken({ aud: "game" }) }))
  const look = async () => {
    client.messages.splice(0)
    client.send({ type: "subscribe", view: "Round/latest" })
    return (await client.message({ op: "snapshot" }))["data"]
  }
  const record = {
    id: { round_id: "41", address: round },
    state: {
      deployed: ["1", "2", String(big)],
      expires_at: "500",
      seed: "deadbeef",
      leader: null,
      left: "498",
      ui: null,
    },
    metrics: { deploys: "1", total: "5", largest: "5", players: "1" },
    oracle: { value: null, url: null },
    results: { rng: null, square: null },
    token: null,
  }
  await vi.waitFor(async () => expect(await look()).toEqual([{ key: "41", data: record }]), { timeout: 10_000 })
  rpc.put(round, { owner: game, data: roundData(41n, [1n, 2n, 3n], 500n) })
  await rpc.add(4, deploy(game, rpc.payer, round, oracleVar, big))
  const patch = await client.message({ op: "patch", key: "41" })
  expect(patch["data"]).toEqual({
    state: { deployed: ["1", "2", "3"], left: "496" },
    metrics: { deploys: "2", total: String(big + 5n), largest: String(big) },
  })
  client.send({ type: "subscribe", view: "Round/grouped" })
  await client.message({ code: "view-unsupported", fatal: false })
})
