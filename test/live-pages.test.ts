// Live data in a real browser, on real services, by the copy's own key: nobody clicks, nobody pastes.
// @module-tag long
import { WebSocket } from "ws"
import { createPlatform, createSession, createStream } from "@svc/client"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { looks, noBrowser, phone, testBrowser } from "./browser/chromium.ts"
import { faultsOf, keptBy, nothingKept } from "./browser/faults.ts"
import { tooSmall } from "./browser/heights.ts"
import { newKeys } from "./browser/new-keys.ts"
import { beforeTests, testInstance } from "./start-service.ts"

type Transfer = { readonly amount: { readonly lamports: string; readonly sol: number } }

const browser = testBrowser()
const instance = testInstance(undefined, undefined, { viewer: true, settings: { SVC_SAMPLE_TRAFFIC: "true" } })
const tab = beforeTests(() => browser.open())
let page: Page

const at = (path: string): string => `${instance.docsUrl}${path}`
const panel = "[id='frame.live']"
/** What a made-up response needs so that the page can read it. */
const open = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" }
const status = () => page.locator(`${panel} [role=status]`)
const rows = () => page.locator(`${panel} tbody tr`)
const told = (text: string | RegExp) => status().filter({ hasText: text }).waitFor()

describe.skipIf(noBrowser)("live pages in a browser", () => {
  beforeAll(() => {
    page = tab.page
  })

  test("the home page shows records that move without a click", async () => {
    const opened = performance.now()
    await page.goto(at("/"))
    await rows().nth(4).waitFor()
    const firstMs = performance.now() - opened
    const newest = await rows().first().innerText()
    await page.waitForFunction(
      ([selector = "", before]) => document.querySelector<HTMLElement>(`${selector} tbody tr`)?.innerText !== before,
      [panel, newest],
    )
    // Told, not asserted: the machine may be busy with other tests.
    console.log(`five records ${firstMs.toFixed(0)} ms after the page was opened`)
    await expect.poll(() => rows().count()).toBe(5)
    expect(await page.locator(".plot canvas").count()).toBe(1)
    expect(await page.locator(`${panel} .plot`).getAttribute("aria-label")).toMatch(/^Chart of amount\.sol: \d+ points/)
    expect(tab.console()).toEqual([])
  })

  test("a chart's points are the records that a WebSocket client sees", async () => {
    const agent = await createPlatform({ apiUrl: instance.apiUrl }).signUp()
    const platform = createPlatform({ apiUrl: instance.apiUrl, key: agent.api_key })
    const websocketUrl = `${instance.streamUrl}/transfers`
    const stream = createStream({
      websocketUrl,
      session: createSession({ platform, websocketUrl, scope: "read" }),
      webSocket: WebSocket,
    })
    const seen = new Set<string>()
    const leaving = new AbortController()
    const watching = (async () => {
      for await (const { records } of stream.watch<Transfer>("SolTransfer/list", { signal: leaving.signal }))
        for (const record of records.values()) seen.add(String(record.amount.sol))
    })()
    await page.goto(at("/stacks/transfers"))
    await told("Live.")
    await page.getByText("points as text").click()
    const text = page.locator(".chart pre")
    await page.waitForFunction(() => (document.querySelector(".chart pre")?.textContent?.split("\n").length ?? 0) > 8)
    await page.getByRole("button", { name: "Pause" }).click()
    const [head, ...lines] = (await text.innerText()).split("\n")
    expect(head).toBe("time,amount.sol")
    const drawn = lines.map((line) => line.split(",")[1] ?? "")
    await expect.poll(() => drawn.every((value) => seen.has(value))).toBe(true)
    expect(lines.map((line) => line.slice(0, 24))).toEqual(lines.map((line) => line.slice(0, 24)).toSorted())
    leaving.abort()
    await watching
    await told("Paused.")
    // What is held stays, while new records come.
    const held = await rows().first().innerText()
    await page.getByText("changes since this page was opened").waitFor()
    expect(await rows().first().innerText()).toBe(held)
    await page.getByRole("button", { name: "Resume" }).click()
    await told("Live.")
  })

  test("a chart of one moment names times of that minute", async () => {
    const other = await browser.openAs()
    await other.addInitScript(() => {
      const drawn: string[] = []
      CanvasRenderingContext2D.prototype.fillText = (text) => void drawn.push(text)
      Object.assign(globalThis, { drawn })
    })
    const data = { id: { signature: "one" }, amount: { sol: 1 }, context: { block_time: "1796076294" } }
    const frames = [
      `{"op":"subscribed","view":"SolTransfer/latest","mode":"list"}`,
      JSON.stringify({
        mode: "list",
        entity: "SolTransfer/latest",
        op: "snapshot",
        complete: true,
        data: [{ key: "one", data }],
      }),
    ]
    await other.routeWebSocket(/.*/, (socket) => socket.onMessage(() => frames.forEach((frame) => socket.send(frame))))
    await other.goto(at("/stacks/transfers"))
    await other.getByText("1 point as text").waitFor()
    const times = () =>
      other.evaluate(() =>
        (globalThis as unknown as { drawn: string[] }).drawn.filter((text) => /\d:\d\d:\d\d/.test(text)),
      )
    await expect.poll(async () => new Set(await times()).size).toBeGreaterThan(3)
    await other.close()
  })

  test("on a touch screen every control of the live panel is at least 40 px high", async () => {
    const touched = await browser.openAs(phone)
    await touched.goto(at("/stacks/transfers"))
    await touched.locator(`${panel} tbody .copy`).first().waitFor()
    await touched.getByText("Columns").click()
    expect(await tooSmall(touched)).toEqual([])
  })

  test("a reader chooses a view, a record, columns and the chart; the page describes the same for other programs", async () => {
    const opened = Date.now()
    await page.goto(at("/stacks/transfers"))
    await told("Live.")
    await page.getByText("Columns").click()
    await page.getByRole("checkbox", { name: "context.slot" }).check()
    await page.locator(`${panel} th`, { hasText: "slot" }).waitFor()
    await page.getByRole("checkbox", { name: "parties.source" }).uncheck()
    await page.reload()
    await page.locator(`${panel} th`, { hasText: "slot" }).waitFor()
    expect(await page.locator(`${panel} th`, { hasText: "source" }).count(), "after a reload").toBe(0)
    await page.getByRole("combobox", { name: "Chart" }).selectOption("changes a second")
    const rate = page
      .locator(".plot[aria-label^='Chart of changes a second: ']")
      .and(page.locator("[aria-label*=newest]"))
    const drawn = Number(/: (\d+) point/.exec((await rate.getAttribute("aria-label")) ?? "")?.[1])
    expect(drawn, "seconds before the page was opened aren't drawn").toBeLessThanOrEqual((Date.now() - opened) / 1000)
    await page.getByRole("combobox", { name: "View" }).selectOption("Wallet/list")
    await told("Live.")
    const copy = page.locator(`${panel} tbody tr`).first().getByRole("button", { name: "Copy key" })
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: instance.docsUrl })
    await copy.click()
    const key = await page.evaluate(() => navigator.clipboard.readText())
    await page.locator(`${panel} tbody a[title="${key}"]`).click()
    await rows().first().waitFor()
    expect(new URL(page.url()).search).toBe(`?${new URLSearchParams({ view: "Wallet/state", key })}`)
    await page.getByLabel("Key", { exact: true }).fill("1111")
    await page.keyboard.press("Enter")
    await told("There is no record with this key.")
    await page.goBack()
    await rows().first().waitFor()
    await page.reload()
    await rows().first().waitFor()
    expect(await rows().count()).toBe(1)
    const code = page.locator(".same-in pre")
    expect(await code.innerText()).toContain(`watch transfers Wallet/state --key ${key} --take 20`)
    await page.getByRole("button", { name: "TypeScript" }).click()
    expect(await code.innerText()).toContain(`stream.watch("Wallet/state", { key: "${key}", take: 20 })`)
    await page.getByRole("button", { name: "WebSocket" }).click()
    expect(await code.innerText()).toContain(`{"type":"subscribe","view":"Wallet/state","key":"${key}","take":20}`)
    await page.goto(at("/stacks/transfers"))
    await code.getByText("websocat").waitFor()
    expect(await page.locator(".same-in").innerText()).toContain("needs an API key")
    expect(await faultsOf(page)).toEqual([])
  })

  test("the list of stacks shows which have records now, and updates in words", async () => {
    await page.goto(at("/stacks"))
    const row = page.locator("article tr", { hasText: "transfers" }).first()
    await row.getByText(/^\d+$/).last().waitFor()
    await page.locator("article td", { hasText: "version 1 published" }).first().waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test("a panel says whether stream, platform or network is unavailable, keeps its records and recovers by itself", async () => {
    let isStreamAway = false
    const sockets: { close: (options: { code: number }) => Promise<void> }[] = []
    await page.routeWebSocket(/.*/, (socket) => {
      if (isStreamAway) {
        void socket.close({ code: 1011 })
        return
      }
      socket.connectToServer()
      sockets.push(socket)
    })
    const cut = () => Promise.all(sockets.splice(0).map((socket) => socket.close({ code: 1011 })))
    await page.goto(at("/"))
    await rows().nth(4).waitFor()
    isStreamAway = true
    await cut()
    await told("The stream server isn't reachable. These are the last records.")
    await expect.poll(() => rows().count()).toBe(5)
    isStreamAway = false
    await told("Live.")

    isStreamAway = true
    await page.route(`${instance.apiUrl}/**`, (route) => route.abort())
    await cut()
    await told("The platform API isn't reachable.")
    await expect.poll(() => rows().count()).toBe(5)
    isStreamAway = false
    await page.unrouteAll()
    await told("Live.")

    await page.context().setOffline(true)
    await told("Your network is offline")
    await page.context().setOffline(false)
    await told("Live.")
    tab.console()
    await page.reload()
  })

  test("a page whose own key no longer works fetches the new one, and asks nobody to sign up", async () => {
    const { publishable } = await newKeys(instance.apiUrl, instance.docsUrl)
    let isGone = false
    let isReplaced = false
    await page.route(`${instance.apiUrl}/ws/sessions`, async (route) => {
      const headers = await route.request().allHeaders()
      if (!isGone || headers["authorization"] === `Bearer ${publishable}`) return route.continue()
      const refused = await route.fetch({
        headers: { ...headers, authorization: `Bearer ${publishable.slice(0, -6)}AAAAAA` },
      })
      return route.fulfill({ response: refused })
    })
    await page.route(at("/"), async (route) => {
      if (!isReplaced || route.request().resourceType() !== "fetch") return route.continue()
      const response = await route.fetch()
      const body = (await response.text()).replace(/data-key="\w+"/, `data-key="${publishable}"`)
      return route.fulfill({ response, body })
    })
    const expiries: (() => Promise<void>)[] = []
    await page.routeWebSocket(/.*/, (socket) => {
      socket.connectToServer()
      expiries.push(() => {
        socket.send(JSON.stringify({ type: "error", code: "token-expired", message: "expired", fatal: true }))
        return socket.close({ code: 1008 })
      })
    })
    await page.goto(at("/"))
    await told("Live.")
    isGone = true
    await Promise.all(expiries.map((expire) => expire()))
    await told("The key that this page reads with was replaced.")
    expect(await page.locator(panel).innerText()).not.toMatch(/sign.up|invalid/i)
    // A connection may end between a record that leaves the window and the one that takes its place.
    expect(await rows().count(), "the last records stay").toBeGreaterThanOrEqual(4)
    isReplaced = true
    await told("Live.")
    await page.unrouteAll()
    tab.console()
  })

  test("a stack whose stream is elsewhere says where, and the page opens nothing there", async () => {
    await page.route(`${instance.apiUrl}/api/registry/transfers/schema**`, async (route) => {
      const response = await route.fetch()
      const json = { ...(await response.json()), websocket_url: "wss://streams.example.org/transfers" }
      await route.fulfill({ response, json })
    })
    await page.goto(at("/stacks/transfers"))
    await page.locator(panel).getByText("elsewhere: wss://streams.example.org/transfers").waitFor()
    expect(tab.console()).toEqual([])
    await page.unrouteAll()
  })

  test("a registry's response in another shape is reported with its request", async () => {
    await page.route(`${instance.apiUrl}/api/registry/transfers/schema**`, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: {}, headers: { ...response.headers(), "x-request-id": "r-odd" } })
    })
    await page.goto(at("/stacks/transfers"))
    await told("can't show the registry's response about transfers")
    expect(await status().innerText()).toContain("r-odd")
    await page.unrouteAll()
    await page.route(`${instance.apiUrl}/api/registry/transfers/schema**`, (route) => route.fulfill({ headers: open }))
    await page.reload()
    await told(/tell the operator\.$/)
    await page.unrouteAll()
  })

  test("a registry that asks to wait is quoted, and isn't asked again before", async () => {
    const other = await browser.openAs()
    await other.clock.install()
    const asked: string[] = []
    const json = { error: "Too many requests.", code: "rate-limit-exceeded", retryable: true }
    await other.route(`${instance.apiUrl}/**`, (route) => {
      asked.push(new URL(route.request().url()).pathname)
      return route.fulfill({ status: 429, json, headers: { ...open, "retry-after": "3600" } })
    })
    await other.goto(at("/stacks/transfers"))
    await other.getByText("Too many requests. This page goes on by itself.").waitFor()
    await other.clock.runFor(10_000)
    const readings = () => asked.filter((path) => /schema|livez/.test(path)).length
    expect(readings(), asked.join(" ")).toBe(1)
    await other.clock.runFor(3_600_000)
    await expect.poll(readings).toBeGreaterThan(1)
    await other.close()
  })

  test("a hostile record is shown as text: markup, 10 kB strings, numbers past 2^53, names of object members", async () => {
    const hostile = `{"id":{"signature":"<img src=x onerror=alert(1)>"},"__proto__":{"polluted":"yes"},"constructor":1,"text":"${"<b>".repeat(3500)}","big":9007199254740993,"javascript:alert(1)":"javascript:alert(2)","list":[{"a":"<script>"}]}`
    const frames = [
      `{"op":"subscribed","view":"SolTransfer/latest","mode":"list"}`,
      `{"mode":"list","entity":"SolTransfer/latest","op":"snapshot","complete":true,"data":[{"key":"<script>alert(3)</script>","data":${hostile}}]}`,
    ]
    await page.routeWebSocket(/.*/, (socket) => socket.onMessage(() => frames.forEach((frame) => socket.send(frame))))
    await page.goto(at("/stacks/transfers"))
    await rows().first().waitFor()
    await page.getByText("Columns").click()
    for (const box of await page.locator(`${panel} [type=checkbox]`).all()) await box.check()
    const text = await rows().first().innerText()
    expect(text).toContain("9007199254740993")
    expect(text).toContain("<script>")
    expect(await page.locator(`${panel} :is(img, script, b, a[href^=javascript])`).count()).toBe(0)
    expect(await page.evaluate(() => ({} as { polluted?: string }).polluted)).toBeUndefined()
    expect(text.length).toBeLessThan(2000)
    expect(tab.console()).toEqual([])
    expect(await page.evaluate(() => Reflect.set(document.body, "innerHTML", "<b>")).catch(String)).toContain(
      "This document requires 'TrustedHTML' assignment",
    )
    tab.console()
    await page.goto("about:blank")
  })

  test("the pages are accessible, wide and narrow, light and dark, and store nothing in the browser", async () => {
    for (const path of ["/", "/stacks/transfers"]) {
      for (const [width, colorScheme] of looks) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        await page.goto(at(path))
        await rows().first().waitFor()
        expect(await faultsOf(page), `${path} ${width} ${colorScheme}`).toEqual([])
      }
    }
    expect(await keptBy(page), "nothing but the chosen tool").toEqual({ ...nothingKept, local: ["svc.tool"] })
    await page.setViewportSize({ width: 320, height: 600 })
    for (const path of ["/", "/stacks/stake-accounts"]) {
      await page.goto(at(path))
      await page.locator(".live-status").waitFor()
      for (const size of ["100%", "200%"]) {
        await page.evaluate((text) => (document.documentElement.style.fontSize = text), size)
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${path} ${size}`).toBe(0)
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  })
})
