import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { once } from "node:events"
import { connect as dial } from "node:net"
import { defaultBounds } from "@svc/http"
import { startReceiver } from "@svc/testing"
import { expect, test } from "vitest"
import { createClosing, mintToken, openRaw, sampleAst, startPlatform, startStream } from "./fixture.ts"
import { transfer } from "@svc/testing/solana"
import { startChain } from "../../local-chain/test/fixture.ts"

const closing = createClosing()

/** A stream with some records, and clients of it. */
const start = async (bounds: Partial<typeof defaultBounds> = {}) => {
  const platform = closing(await startPlatform({ transfers: sampleAst("transfers") }))
  const chain = closing(await startChain())
  const payer = await chain.fund(100_000_000_000n)
  const to = (await chain.fund()).address
  for (let sent = 1; sent <= 20; sent++) await chain.send(payer, transfer(payer.address, to, BigInt(sent)))
  chain.pass()
  const stream = closing(
    await startStream({ apiUrl: platform.url, rpcUrl: chain.url }, { ...defaultBounds, ...bounds }),
  )
  const kept = async () => (await stream.health())["stacks"].transfers.entities.SolTransfer
  await expect.poll(kept).toBe(22)
  const connect = async () => closing(await openRaw(stream.url(), { token: await mintToken() }))
  return { stream, connect }
}

test.each([
  ["for longer than a client may take", { answerMs: 300, bytesPerSecond: 1_000_000_000 }],
  ["while all hold more than they may", { heldBytes: 65_536 }],
] as const)("a client that doesn't read %s is disconnected, others are served", async (_, bounds) => {
  const { connect } = await start(bounds)
  const [deaf, other] = [await connect(), await connect()]
  deaf.socket.pause()
  // Each is a snapshot of all records.
  for (let sent = 0; sent < 2_000; sent++) deaf.send({ type: "subscribe", view: "SolTransfer/list", skip: sent % 2 })
  await expect
    .poll(
      () => {
        // Only who reads learns that it was cut off.
        if (deaf.socket.isPaused) deaf.send({ type: "ping" })
        return deaf.socket.readyState
      },
      { timeout: 20_000 },
    )
    .not.toBe(deaf.socket.OPEN)
  other.send({ type: "subscribe", view: "SolTransfer/list" })
  expect((await other.message({ op: "snapshot" }))["data"]).toHaveLength(22)
})

test("one connection above the limit costs the oldest its own", async () => {
  const { connect } = await start({ connections: 2 })
  const [first, second, third] = [await connect(), await connect(), await connect()]
  expect(await first.closed()).toMatchObject({ code: 1006 })
  for (const client of [second, third]) {
    client.send({ type: "subscribe", view: "TokenAccount/list" })
    await client.message({ op: "snapshot" })
  }
})

test("a window has the view's records, and a record that leaves it is deleted", async () => {
  const { connect } = await start()
  const client = await connect()
  client.send({ type: "subscribe", view: "Wallet/top-senders", skip: 1, take: 1 })
  const { data } = await client.message({ op: "snapshot" })
  expect(data).toMatchObject([{ data: { sent: { count: "20" } } }])
  client.send({ type: "subscribe", view: "SolTransfer/list", take: 0 })
  expect(await client.message({ entity: "SolTransfer/list" })).toMatchObject({ data: [], complete: true })
  client.send({ type: "subscribe", view: "SolTransfer/list", withSnapshot: false })
  client.send({ type: "subscribe", view: "SolTransfer/largest" })
  expect((await client.message({ entity: "SolTransfer/largest" }))["data"]).toHaveLength(1)
  expect(client.messages.filter(({ op, entity }) => op === "snapshot" && entity === "SolTransfer/list")).toHaveLength(1)
})

test("nothing in production depends on it, or on the local chain", () => {
  const root = join(import.meta.dirname, "../../..")
  const manifests = ["apps", "packages"].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => join(root, kind, name, "package.json")),
  )
  const importers = manifests.filter((path) => {
    const { dependencies = {} } = JSON.parse(readFileSync(path, "utf8")) as { dependencies?: object }
    return "@svc/local-stream" in dependencies || "@svc/local-chain" in dependencies
  })
  expect(importers).toEqual([])
})

test("a stop waits for no client that is silent or slow, and for no source that doesn't answer", async () => {
  const platform = closing(await startPlatform({ transfers: sampleAst("transfers") }))
  const frozen = closing(await startReceiver())
  frozen.answer(() => {})
  const stream = await startStream({ apiUrl: platform.url, rpcUrl: frozen.url, env: { SVC_SAMPLE_TRAFFIC: "true" } })
  const deaf = closing(await openRaw(stream.url(), { token: await mintToken() }))
  deaf.socket.pause()
  const sockets = await Promise.all(
    ["", "GET /hea", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n"].map(async (text) => {
      const socket = dial(stream.port, "127.0.0.1").on("error", () => {})
      await once(socket, "connect")
      socket.write(text)
      return socket.resume()
    }),
  )
  const ended = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)))
  await stream.close()
  expect(await Promise.all(ended)).toHaveLength(3)
})
