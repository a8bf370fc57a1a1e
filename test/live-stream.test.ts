// The stream on this machine, read by a client of others that is on npm, in Node and in a browser, and by the library.
// @module-tag long
import { createPlatform, createRelay, createSession, createStream, submit } from "@svc/client"
import { build } from "esbuild"
import { HyperStack } from "hyperstack-typescript"
import { beforeAll, expect, test, vi } from "vitest"
import { WebSocket } from "ws"

import { type Browser, noBrowser, startChromium, type Tab } from "./browser/chromium.ts"
import { newKeys } from "./browser/new-keys.ts"
import { type PageServer, startPageServer } from "./browser/page-server.ts"
import { testInstance } from "./start-service.ts"
import { createWallet } from "@svc/testing/wallet"

const instance = testInstance()
let apiKey: string
let url: string
beforeAll(async () => {
  url = `${instance.streamUrl}/transfers`
  apiKey = (await createPlatform({ apiUrl: instance.apiUrl }).signUp()).api_key
})

const transfers = (streamUrl: string) =>
  ({
    name: "transfers",
    url: streamUrl,
    views: {
      transfers: {
        list: { mode: "list", view: "SolTransfer/latest" },
        state: { mode: "state", view: "SolTransfer/state" },
      },
      wallets: { list: { mode: "list", view: "Wallet/list" } },
    },
  }) as const

const session = () => {
  const platform = createPlatform({ apiUrl: instance.apiUrl, key: apiKey })
  return createSession({ platform, websocketUrl: url, scope: ["read", "transaction:inspect", "transaction:send"] })
}

/** Sends a transfer through the relay; gives its signature. */
const pay = async (wallet: Awaited<ReturnType<typeof createWallet>>, lamports: bigint): Promise<string> => {
  const relay = createRelay({ relayUrl: instance.relayUrl, session: session() })
  const { blockhash, lastValidBlockHeight } = await relay.latestBlockhash()
  const { wire, signature } = await wallet.signTransfer(lamports, { blockhash })
  const outcome = await submit(relay, { transaction: wire, lastValidBlockHeight })
  expect(outcome).toMatchObject({ state: "landed", err: null })
  return signature
}

/** What the library sees of a view, at the moment. */
const recordsOf = async (view: string): Promise<Record<string, unknown>> => {
  const stream = createStream({ websocketUrl: url, session: session() })
  for await (const { records } of stream.watch(view)) return Object.fromEntries(records)
  return {}
}

test("hyperstack-typescript mints its token with a publishable key, sees the same records, and renews in place", async () => {
  const origin = "http://app.example"
  const headers = { Origin: origin }
  const connections: WebSocket[] = []
  const auth = {
    tokenEndpoint: `${instance.apiUrl}/ws/sessions`,
    publishableKey: (await newKeys(instance.apiUrl, origin)).publishable,
    // In Node nobody sets the Origin that the key asks for.
    tokenEndpointHeaders: headers,
    websocketFactory: (target: string) => {
      const socket = new WebSocket(target, { headers })
      connections.push(socket)
      return socket as unknown as globalThis.WebSocket
    },
  }
  const wallet = await createWallet(instance.chainUrl)
  await wallet.fund(5_000_000_000n)
  const client = await HyperStack.connect(transfers(url), { auth })
  const latest = client.views.transfers.list.watch()[Symbol.asyncIterator]()
  const wallets = client.views.wallets.list.watch()[Symbol.asyncIterator]()
  const stored = (view: string) =>
    Object.fromEntries(client.store.keys(view).map((key) => [key, client.store.get(view, key)]))
  const first = await pay(wallet, 1_000_000_000n)
  await expect.poll(() => client.store.get("SolTransfer/latest", first)).toMatchObject({ id: { signature: first } })
  // Its own way to renew, which it takes by itself a minute before the token's end.
  const renewing = client.getConnection() as unknown as {
    refreshTokenInBackground: () => Promise<void>
    currentToken: string
  }
  const before = renewing.currentToken
  await renewing.refreshTokenInBackground()
  expect(renewing.currentToken).not.toBe(before)
  await pay(wallet, 2_000_000_000n)
  for (const view of ["SolTransfer/latest", "Wallet/list"]) {
    await vi.waitFor(async () => expect(stored(view)).toEqual(await recordsOf(view)), 60_000)
  }
  expect(client.store.get("Wallet/list", wallet.address)).toMatchObject({
    sent: { lamports: "3000000000", count: "2" },
  })
  expect(client.store.keys("SolTransfer/latest")).toHaveLength(3)
  expect([client.connectionState, connections.length]).toEqual(["connected", 1])
  await Promise.all([latest.return?.(), wallets.return?.()])
  client.disconnect()
})

test("each view's schema says what the stream requires: key or none, its field, the order", async () => {
  const { schema } = await createPlatform({ apiUrl: instance.apiUrl }).registry.schema("transfers")
  const token = await session().token()
  const socket = new WebSocket(url, ["svc.stream.v1", `bearer.${token}`])
  const messages: Record<string, unknown>[] = []
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString())))
  await new Promise((resolve) => socket.once("open", resolve))
  let shown = 0
  for (const { id, needs_key, key_field, sort, mode } of schema.entities.flatMap(({ views }) => views)) {
    messages.length = 0
    socket.send(JSON.stringify({ type: "subscribe", view: id }))
    const last = () => messages.find(({ code, complete }) => code !== undefined || complete === true)
    await expect.poll(last).toBeDefined()
    const end = last() ?? expect.fail()
    expect([id, end["code"] === "key-required"]).toEqual([id, needs_key])
    if (needs_key) continue
    expect(messages[0]).toEqual({
      op: "subscribed",
      view: id,
      mode,
      ...(sort && { sort: { ...sort, field: sort.field.split(".") } }),
    })
    for (const { key, data } of end["data"] as { key: string; data: Record<string, unknown> }[]) {
      const valueAt = (value: unknown, name: string) => (value as Record<string, unknown>)[name]
      expect(key).toBe(String(key_field?.split(".").reduce<unknown>(valueAt, data)))
      shown++
    }
  }
  socket.close()
  expect(shown).toBeGreaterThan(3)
})

test.skipIf(noBrowser)(
  "on a page of its key's origin hyperstack-typescript sees a transfer arrive, and the library by subprotocol",
  async () => {
    const bundleOf = async (source: string): Promise<string> => {
      const stdin = { contents: source, resolveDir: import.meta.dirname }
      const { outputFiles } = await build({ stdin, bundle: true, format: "iife", write: false, external: ["crypto"] })
      return outputFiles[0]?.text ?? ""
    }
    let browser: Browser | undefined
    let server: PageServer | undefined
    try {
      browser = await startChromium()
      server = await startPageServer()
      const origin = `http://localhost:${server.port}`
      const tab: Tab = await browser.open(origin)
      const { publishable: key } = await newKeys(instance.apiUrl, origin)
      const given = { apiUrl: instance.apiUrl, url, key }
      await tab.page.evaluate(`globalThis.given = ${JSON.stringify(given)}`)
      await tab.page.evaluate(
        await bundleOf(`
          import { HyperStack } from "hyperstack-typescript"
          import { createPlatform, createSession, createStream } from "../packages/client/src/index.ts"
          const { apiUrl, url, key } = globalThis.given
          globalThis.seen = { theirs: [], ours: [] }
          const views = { transfers: { list: { mode: "list", view: "SolTransfer/latest" } } }
          const auth = { tokenEndpoint: apiUrl + "/ws/sessions", publishableKey: key }
          HyperStack.connect({ name: "transfers", url, views }, { auth }).then(async (client) => {
            for await (const update of client.views.transfers.list.watch()) globalThis.seen.theirs.push(update.key)
          })
          const platform = createPlatform({ apiUrl, key })
          const stream = createStream({ websocketUrl: url, session: createSession({ platform, websocketUrl: url, scope: "read" }) })
          ;(async () => {
            for await (const { records } of stream.watch("SolTransfer/latest")) globalThis.seen.ours = [...records.keys()]
          })()
        `),
      )
      const wallet = await createWallet(instance.chainUrl)
      await wallet.fund(5_000_000_000n)
      const signature = await pay(wallet, 1_000_000n)
      const seen = () => tab.page.evaluate<{ theirs: string[]; ours: string[] }>("globalThis.seen")
      await expect.poll(async () => (await seen()).theirs).toContain(signature)
      await expect.poll(async () => (await seen()).ours).toContain(signature)
      expect(tab.console()).toEqual([])
    } finally {
      await browser?.close()
      await server?.close()
    }
  },
)
