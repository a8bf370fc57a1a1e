// The client library as a page uses it: a publishable key of the page's origin, a wallet's bytes, a real browser.
// @module-tag long
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { address, createSolanaRpc, lamports } from "@solana/kit"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

import { fencesOf } from "../apps/docs-server/test/content/steps.ts"
import { bundle, bundled } from "../packages/client/scripts/bundle.ts"
import { amount, recipientOf } from "../packages/client/test/payment-process.ts"
import { createPayer } from "../packages/client/test/payments.ts"
import { noBrowser, testBrowser, type Tab } from "./browser/chromium.ts"
import { type PageServer, startPageServer } from "./browser/page-server.ts"
import { newKeys } from "./browser/new-keys.ts"
import { createWallet } from "@svc/testing/wallet"
import { full, startReceiver } from "@svc/testing"
import { operate } from "../scripts/running/operate.ts"
import { folderOfFile } from "./folder-of-file.ts"
import { testInstance } from "./start-service.ts"

/** As an operator does who lets pages send: the stack is published with its relay open to publishable keys. */
const openToPages = async (folder: string, streamUrl: string): Promise<void> => {
  const stack = join(import.meta.dirname, "../apps/platform-api/stacks/transfers.stack.json")
  const options = ["--websocket-url", `${streamUrl}/transfers`, "--relay", "--browser-send"]
  await operate({ SVC_DATA_DIR: folder }, "stack", "publish", stack, "--name", "transfers", ...options)
}

/** What the page finds in its globals: the library, and what signs for it. */
type Given = {
  readonly client: typeof import("../packages/client/src/index.ts")
  readonly sign: (blockhash: string) => Promise<readonly number[]>
  readonly signFor: (id: string, blockhash: string) => Promise<readonly number[]>
}

describe.skipIf(noBrowser)("the client library in a page", () => {
  const browser = testBrowser()
  const instance = testInstance(undefined, openToPages)
  let server: PageServer
  let origin: string
  let key: string
  /** A tab with the library in its globals. */
  const openTab = async (): Promise<Tab> => {
    const tab = await browser.open(origin)
    await tab.page.evaluate(`import("/svc-client.js").then((client) => Object.assign(globalThis, { client }))`)
    return tab
  }
  const folder = folderOfFile()
  beforeAll(async () => {
    await bundle(folder, { minify: true })
    const scripts = bundled.map(async (file) => [`/${file}`, await readFile(join(folder, file), "utf8")] as const)
    server = await startPageServer(Object.fromEntries(await Promise.all(scripts)))
    origin = `http://localhost:${server.port}`
    key = (await newKeys(instance.apiUrl, origin)).publishable
  })
  afterAll(() => server?.close())

  test("opens a session with a publishable key, submits what a wallet signed, and sees it land", async () => {
    const tab = await openTab()
    const wallet = await createWallet(instance.chainUrl)
    await wallet.fund(2_000_000_000n)
    // A wallet adapter gives the page bytes; here it signs outside the page.
    await tab.page.exposeFunction("sign", async (blockhash: string) => {
      const { wire } = await wallet.signTransfer(1_000_000_000n, { blockhash })
      return [...Buffer.from(wire, "base64")]
    })
    const { apiUrl, relayUrl, streamUrl } = instance
    const websocketUrl = `${streamUrl}/transfers`
    const seen = await tab.page.evaluate(
      async (given) => {
        const { client, sign } = globalThis as unknown as Given
        const platform = client.createPlatform({ apiUrl: given.apiUrl, key: given.key })
        const scope = ["transaction:inspect", "transaction:send"]
        const session = client.createSession({ platform, websocketUrl: given.websocketUrl, scope })
        const relay = client.createRelay({ relayUrl: given.relayUrl, session })
        const { blockhash, lastValidBlockHeight } = await relay.latestBlockhash()
        const transaction = new Uint8Array(await sign(blockhash))
        const stored: string[] = []
        const before = (signature: string) => void stored.push(signature)
        const outcome = await client.submit(relay, { transaction, lastValidBlockHeight, before })
        // A bigint does not come out of a page.
        return { ...outcome, ...("slot" in outcome && { slot: String(outcome.slot) }), stored }
      },
      { apiUrl, relayUrl, key, websocketUrl },
    )
    expect(seen).toEqual({
      state: "landed",
      signature: seen.stored[0],
      slot: expect.stringMatching(/^\d+$/),
      commitment: expect.stringMatching(/^(confirmed|finalized)$/),
      err: null,
      stored: [expect.any(String)],
    })
    expect(await wallet.recipientBalance()).toBe(1_000_000_000n)
    expect(tab.console()).toEqual([])
  })

  test("a journal in IndexedDB opens the database again when the browser has closed it, with an event or without", async () => {
    const { page } = await openTab()
    const seen = await page.evaluate(async () => {
      const { client } = globalThis as unknown as Given
      type Connection = { close: () => void; dispatchEvent: (event: Event) => void }
      type Opening = { result: Connection; addEventListener: (event: string, listener: () => void) => void }
      type Factory = { open: (...given: unknown[]) => Opening }
      const { indexedDB } = globalThis as unknown as { indexedDB: Factory }
      const open = indexedDB.open.bind(indexedDB)
      const connections: Connection[] = []
      let isForbidden = false
      indexedDB.open = (...given) => {
        if (isForbidden) throw new Error("forbidden")
        const opening = open(...given)
        opening.addEventListener("success", () => connections.push(opening.result))
        return opening
      }
      const store = client.indexedDbStore("closed")
      const look = async () => {
        try {
          const found = await Promise.all([store.get("a"), store.list(), store.get("b")])
          return `${JSON.stringify(found[1])} by connection ${connections.length}`
        } catch (error) {
          return String(error)
        }
      }
      // The first call loads the store.
      await store.get("a")
      const steps = [await look()]
      connections.at(-1)?.close()
      steps.push(await look())
      connections.at(-1)?.dispatchEvent(new Event("close"))
      isForbidden = true
      steps.push(await look())
      isForbidden = false
      steps.push(await look())
      return steps
    })
    expect(seen).toEqual(["[] by connection 1", "[] by connection 2", "Error: forbidden", "[] by connection 3"])
  })

  test("the documentation's page shows live records unchanged, even from another server, and why there are none", async () => {
    const markdown = await (await fetch(`${instance.docsUrl}/client.md`)).text()
    const html = fencesOf(markdown).find(({ info }) => info === "file=index.html")?.text ?? ""
    const { url, answer, close } = await startReceiver()
    const { publishable } = await newKeys(instance.apiUrl, url.replace("127.0.0.1", "localhost"))
    answer((_, response) => response.setHeader("content-type", "text/html").end(html.replace("svc_pk_…", publishable)))
    const { page, console } = await browser.open(url.replace("127.0.0.1", "localhost"))
    await page.locator("#records", { hasText: "signature" }).waitFor()
    expect(console()).toEqual([])
    await page.goto(url)
    await page.locator("#records", { hasText: "Mint a publishable key for this origin" }).waitFor()
    await close()
  })

  test("tabs that make the same payments at once, and crash at any request, pay each once", async () => {
    const ids = Array.from({ length: full ? 40 : 6 }, (_, index) => `tab-payment-${index}`)
    const rpc = createSolanaRpc(instance.chainUrl)
    const payer = createPayer()
    await rpc.requestAirdrop(address(payer.address), lamports(5_000_000_000n)).send()
    const { apiUrl, relayUrl, streamUrl } = instance
    const given = { apiUrl, relayUrl, key, websocketUrl: `${streamUrl}/transfers`, ids }

    const openPayingTab = async (): Promise<Tab["page"]> => {
      const { page } = await openTab()
      await page.exposeFunction("signFor", (id: string, blockhash: string) => [
        ...payer.transfer({ recipient: recipientOf(id), lamports: amount, blockhash }),
      ])
      return page
    }
    const pay = (page: Tab["page"]) =>
      page.evaluate(async (all) => {
        const { client, signFor } = globalThis as unknown as Given
        const platform = client.createPlatform({ apiUrl: all.apiUrl, key: all.key })
        const scope = ["transaction:inspect", "transaction:send"]
        const session = client.createSession({ platform, websocketUrl: all.websocketUrl, scope })
        const relay = client.createRelay({ relayUrl: all.relayUrl, session })
        const journal = client.createJournal({ relay, store: client.indexedDbStore("payments") })
        return Promise.all(
          all.ids.map(async (id) => {
            const { state, signature } = await journal.submitOnce(id, async ({ blockhash }) =>
              Uint8Array.from(await signFor(id, blockhash)),
            )
            return `${state} ${signature}`
          }),
        )
      }, given)
    /** Runs the payments in a tab whose process crashes when it has made so many requests. */
    let crashes = 0
    const crashAt = async (requests: number): Promise<void> => {
      const page = await openPayingTab()
      const devTools = await page.context().newCDPSession(page)
      let made = 0
      page.on("request", () => {
        // It never answers.
        if (++made === requests) void devTools.send("Page.crash").catch(() => {})
      })
      const crashed = new Promise<void>((resolve) => page.once("crash", () => resolve(void crashes++)))
      await Promise.race([crashed, pay(page).catch(() => crashed)])
      await page.close()
    }

    const points = full ? Array.from({ length: 40 }, (_, index) => 2 + index * 6) : [3, 20, 30, 45]
    for (let next = 0; next < points.length; next += 2) {
      await Promise.all(points.slice(next, next + 2).map(crashAt))
    }
    expect(crashes).toBeGreaterThan(points.length / 2)
    const [first, second] = await Promise.all([pay(await openPayingTab()), pay(await openPayingTab())])
    expect(first).toEqual(ids.map(() => expect.stringMatching(/^landed /)))
    expect(second).toEqual(first)
    const balances = ids.map(async (id) => (await rpc.getBalance(address(recipientOf(id))).send()).value)
    expect(await Promise.all(balances)).toEqual(ids.map(() => amount))
  })
})
