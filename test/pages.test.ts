// The documentation as people read it, in a real browser.
// @module-tag long
import { full } from "@svc/testing"
import { createWallet } from "@svc/testing/wallet"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { noBrowser, phone, testBrowser } from "./browser/chromium.ts"
import { faultsOf, keptBy, nothingKept, reportPolicy, tooWide } from "./browser/faults.ts"
import { tooSmall, uneven } from "./browser/heights.ts"
import { newKeys } from "./browser/new-keys.ts"
import { onPaper } from "./browser/paper.ts"
import { beforeTests, testInstance } from "./start-service.ts"

const browser = testBrowser()
const instance = testInstance()
const tab = beforeTests(() => browser.open())
let page: Page
/** Every request that the pages have made. */
const requested = new Set<string>()
let paths: string[]

const at = (path: string): string => `${instance.docsUrl}${path}`
// Between the schemes only colours differ, between the widths only what has a size and a place.
const looks = (
  [
    { width: 1280, scheme: "light", rules: [] },
    { width: 1280, scheme: "dark", rules: ["color-contrast"] },
    { width: 320, scheme: "light", rules: ["target-size", "scrollable-region-focusable", "meta-viewport"] },
    ...(full ? [{ width: 320, scheme: "dark", rules: [] } as const] : []),
  ] as const
).map(({ width, scheme, rules }) => ({
  width,
  scheme,
  options: full || rules.length === 0 ? {} : { runOnly: [...rules] },
}))

describe.skipIf(noBrowser)("the pages in a browser", () => {
  beforeAll(async () => {
    page = tab.page
    page.on("request", (request) => requested.add(new URL(request.url()).origin))
    await reportPolicy(page)
    const map = await (await fetch(at("/sitemap.xml"))).text()
    paths = [...map.matchAll(/<loc>([^<]+)</g)].map(([, url = ""]) => new URL(url).pathname)
  })

  test("every page is accessible, wide and narrow, light and dark, without console messages or third-party requests", async () => {
    tab.console()
    // The reference's pages are all made by one pattern: a few of them stand for the rest.
    const sample = paths.filter((path, index) => !path.startsWith("/reference/") || index % (full ? 12 : 24) === 0)
    const opened = [
      ...sample,
      "/stacks/token-swaps",
      "/search?q=SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE",
      "/search",
      "/no-such-page",
    ]
    for (const [index, path] of opened.entries()) {
      // A page that is resized while it is drawn moves.
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(at(path))
      for (const { width, scheme, options } of looks) {
        // One style sheet colours all pages: some of them show each colour in the dark.
        if (scheme === "dark" && !full && index % 4 !== 0) continue
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme: scheme })
        expect(await faultsOf(page, options), `${path}, ${width}, ${scheme}`).toEqual([])
      }
      // What the browser itself says of a page that is not there, or of a registry without versions.
      const missing = "error: Failed to load resource: the server responded with a status of 404 (Not Found)"
      expect(
        tab.console().filter((line) => line !== missing),
        path,
      ).toEqual([])
    }
    // The page of all stacks asks the stream server what it has.
    const known = new Set([instance.docsUrl, instance.apiUrl, instance.streamUrl.replace("ws:", "http:")])
    expect([...requested].filter((origin) => !known.has(origin))).toEqual([])
  })

  test("typing finds pages, arrows and Enter choose one, and the browser's Back returns", async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(at("/keys.html"))
    await page.keyboard.press("/")
    await page.keyboard.type("simulate a transaction")
    const options = page.locator(".found [role=option]")
    await options.first().waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    expect(await options.first().getAttribute("aria-selected")).toBe("true")
    const href = await options.first().getAttribute("data-href")
    await page.keyboard.press("Enter")
    await page.waitForURL((url) => url.pathname + url.hash === href)
    await page.goBack()
    expect(new URL(page.url()).pathname).toBe("/keys.html")
    await page.goto(at("/limits.html"))
    await page.keyboard.press("/")
    await page.keyboard.type("qqqq zzzz")
    await options.filter({ hasText: "Nothing found" }).waitFor()
    await page.route("**/mcp", (route) => route.fulfill({ status: 503, json: { error: { code: -32000 } } }))
    await page.keyboard.type(" yyyy")
    await options.filter({ hasText: "The search failed. Press Enter to try again" }).waitFor()
    await page.unrouteAll()
    tab.console()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("origin")
    await options.filter({ hasText: "rigin" }).first().waitFor()
    await options.first().waitFor()
    await page.keyboard.press("Escape")
    expect(await options.first().isVisible()).toBe(false)
    await page.keyboard.press("Enter")
    await page.waitForURL(at("/search?q=origin"))
    expect(await page.locator(".results li").count()).toBeGreaterThan(3)
  })

  test("a copy button copies the exact code, and a phone's menu opens and closes by keyboard", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: instance.docsUrl })
    await page.goto(at("/keys.html"))
    const first = page.locator("article .code").first()
    await first.locator("button").click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      (await first.locator("code").innerText()).trimEnd(),
    )
    await page.locator(".tools button").click()
    await page.locator(".tools").getByRole("button", { name: "Copied" }).waitFor()
    const markdown = await (await fetch(at("/keys.md"))).text()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(markdown)
    await page.route("**/keys.md", (route) => route.fulfill({ status: 503, json: { error: { code: "busy" } } }))
    const outcome = page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const { clipboard } = navigator
          const write = clipboard.write.bind(clipboard)
          clipboard.write = async (items) => {
            await write(items).finally(() => void clipboard.readText().then(resolve))
          }
        }),
    )
    await page.locator(".tools button").click()
    expect(await outcome, "an error isn't the page").toBe(markdown)
    await page.unrouteAll()
    tab.console()
    await page.setViewportSize({ width: 320, height: 640 })
    const menu = page.locator(".sidebar")
    expect(await menu.isVisible()).toBe(false)
    await page.locator("button.menu").focus()
    await page.keyboard.press("Enter")
    expect(await menu.isVisible()).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press("Escape")
    expect(await menu.isVisible()).toBe(false)
  })

  test("a stack's page shows the registry's entities, keys, views and fields, as a diagram and in tables", async () => {
    await page.goto(at("/stacks"))
    await page.locator("article a", { hasText: "token-swaps" }).click()
    const { schema } = (await (await fetch(`${instance.apiUrl}/api/registry/token-swaps/schema`)).json()) as {
      schema: {
        entities: { name: string; primary_keys: string[]; fields: { path: string }[]; views: { id: string }[] }[]
      }
    }
    await page.locator("svg.drawing").waitFor()
    expect(await uneven(page)).toEqual([])
    const text = await page.locator("article").innerText()
    const drawn = await page.locator("svg.drawing").innerHTML()
    for (const { name, primary_keys, fields, views } of schema.entities) {
      for (const word of [name, ...fields.map(({ path }) => path), ...views.map(({ id }) => id)])
        expect(text).toContain(word)
      for (const word of [name, ...primary_keys]) expect(drawn).toContain(word)
    }
    // The contents are those of the stack, and follow the reader.
    const contents = page.locator(".contents a")
    expect(await contents.allTextContents()).toEqual(expect.arrayContaining(schema.entities.map(({ name }) => name)))
    await page.locator("[id='frame.versions']").scrollIntoViewIfNeeded()
    await page.locator(".contents a[aria-current]").waitFor({ state: "attached" })
    // A key that two entities share is drawn once, and joins them.
    expect(drawn.match(/<title>id\.market<\/title>/g)).toHaveLength(1)
    const missing = await page.goto(at("/stacks/token-swap"))
    expect(missing?.status()).toBe(404)
    expect(await page.locator("article, main").locator("a", { hasText: "token-swaps" }).count()).toBeGreaterThan(0)
  })

  test("a publisher's long words take no column of the list of stacks away", async () => {
    await page.route(at("/stacks"), async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replaceAll(
        /SOL transfers|SolTransfer|>transfers(?=<)/g,
        `$&${"x".repeat(300)}`,
      )
      await route.fulfill({ response, body })
    })
    for (const width of [320, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(at("/stacks"))
      expect(await page.locator("main").innerText()).toContain("xxx")
      expect(await tooWide(page), String(width)).toEqual([])
    }
    await page.unrouteAll()
    await page.setViewportSize({ width: 1280, height: 720 })
    tab.console()
  })

  test("on a stack's page a publishable key shows a transfer arrive, and a secret key is rejected before it is sent", async () => {
    const { secret, publishable } = await newKeys(instance.apiUrl, instance.docsUrl)
    await page.goto(at("/stacks/transfers"))
    const input = page.getByLabel("Publishable key")
    const status = page.locator("[id='frame.live'] [role=status]").first()
    await input.fill(secret)
    await page.keyboard.press("Enter")
    await status.filter({ hasText: "never a secret one" }).waitFor()
    await input.fill(publishable)
    await page.keyboard.press("Enter")
    await status.filter({ hasText: "Live." }).waitFor()
    await (await createWallet(instance.chainUrl)).fund(1_234_567_890n)
    await page.locator("[id='frame.live'] td", { hasText: "1234567890 (1.23456789 SOL)" }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    expect(await keptBy(page)).toEqual(nothingKept)
  })

  test("each setting, error and limit shows its meaning without sideways scrolling on a wide screen", async () => {
    for (const path of ["/configuration", "/errors", "/limits"]) {
      await page.goto(at(`${path}.html`))
      for (const width of [1280, 1440, 1920]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await tooWide(page), `${path} ${width} px`).toEqual([])
      }
    }
  })

  test("each field of each operation shows its name, type, bounds and meaning at any width, without sideways scrolling", async () => {
    const operations = paths.filter((path) => /^\/reference\/[^/]+\/./.test(path))
    expect(operations.length).toBeGreaterThan(80)
    await page.goto(at(operations[0] ?? ""))
    // All of them in one page, which saves opening each at each width.
    const cells = await page.evaluate(async (all) => {
      const load = async (path: string) => {
        const html = await (await fetch(path, { headers: { accept: "text/html" } })).text()
        return (
          new DOMParser().parseFromString(html, "text/html").querySelector("article") ?? document.createElement("p")
        )
      }
      document.querySelector("article")?.replaceWith(...(await Promise.all(all.map(load))))
      return document.querySelectorAll(".table td").length
    }, operations)
    expect(cells).toBeGreaterThan(1000)
    for (const width of [320, 375, 640, 768, 1024, 1200, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await tooWide(page), `${width} px`).toEqual([])
    }
  })

  const several = ["/", "/getting-started", "/errors", "/reference/platform/get-stack", "/stacks", "/search?q=key"]

  test("on a touch screen every control is at least 40 px high, and the contents take one line", async () => {
    const touched = await browser.openAs(phone)
    for (const path of [...several, "/stacks/transfers"]) {
      await touched.goto(at(path))
      expect(await tooSmall(touched), path).toEqual([])
    }
    expect((await touched.locator(".contents").boundingBox())?.height).toBeLessThan(45)
    await touched.locator("button.menu").click()
    expect(await tooSmall(touched)).toEqual([])
  })

  test("on paper a page has no navigation, nothing that sticks or scrolls, and no line that is cut", async () => {
    for (const path of [...several, "/configuration"]) {
      await page.goto(at(path))
      expect(await onPaper(page), path).toEqual([])
    }
  })

  test("in the reader's own colours it shows what is current, chosen and focused, and every button has its text", async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.emulateMedia({ forcedColors: "active" })
    const outlined = (selector: string) =>
      page.locator(selector).evaluate((one) => getComputedStyle(one).outlineStyle === "solid")
    await page.goto(at("/reference/platform/get-stack.html"))
    expect(await outlined(".sidebar [aria-current]")).toBe(true)
    expect(await outlined(".tabs [aria-pressed=true]")).toBe(true)
    const send = page.getByRole("button", { name: "Send request" })
    const [color, back, border] = await send.evaluate((one) => {
      const style = getComputedStyle(one)
      return [style.color, style.backgroundColor, style.borderStyle]
    })
    expect(color).not.toBe(back)
    expect(border).toBe("solid")
    await page.keyboard.press("/")
    expect(await outlined(".top input")).toBe(true)
    await page.keyboard.type("rotate")
    await page.locator(".found [role=option]").first().waitFor()
    await page.keyboard.press("ArrowDown")
    expect(await outlined(".found [aria-selected=true]")).toBe(true)
    await page.emulateMedia({ forcedColors: null })
  })

  test("an operation's page can send a read, a session and a simulation; it stores nothing, and sends have no form", async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    const said = page.locator("[id='frame.try'] [role=status]")
    const shown = page.locator("[id='frame.try'] pre")
    const submit = page.getByRole("button", { name: "Send request" })
    await page.goto(at("/reference/platform/get-stack.html"))
    await page.getByRole("button", { name: "JavaScript" }).click()
    await page.getByText("platform.registry.get").waitFor()
    expect(await uneven(page)).toEqual([])
    await submit.click()
    await said.filter({ hasText: "Status 200" }).waitFor()
    expect(await shown.innerText()).toContain("websocket_url")
    expect(await faultsOf(page)).toEqual([])
    await page.getByLabel("URL").fill("https://other.example/")
    await submit.click()
    await said.filter({ hasText: `must start with ${instance.apiUrl}` }).waitFor()

    // Each response is shown for its own request alone.
    const slow = Promise.withResolvers<void>()
    const headers = { "access-control-allow-origin": "*" }
    await page.route("**/livez?slow", async (route) => {
      await slow.promise
      await route.fulfill({ status: 404, headers, body: "the first" })
    })
    await page.route("**/livez?lost", (route) => route.abort())
    for (const query of ["slow", "quick"]) {
      await page.getByLabel("URL").fill(`${instance.apiUrl}/livez?${query}`)
      await submit.click()
    }
    await said.filter({ hasText: "Status 200" }).waitFor()
    const came = page.waitForEvent("requestfinished", (request) => request.url().endsWith("slow"))
    slow.resolve()
    await came
    await page.evaluate((url) => fetch(url).then((response) => response.text()), `${instance.apiUrl}/livez`)
    expect([await said.innerText(), await shown.innerText()]).toEqual([
      "Status 200",
      expect.not.stringContaining("first"),
    ])
    await page.getByLabel("URL").fill(`${instance.apiUrl}/livez?lost`)
    await submit.click()
    await said.filter({ hasText: "doesn't respond now" }).waitFor()
    expect(await shown.isVisible()).toBe(false)
    await page.unrouteAll()
    tab.console()

    await page.goto(at("/reference/platform/mint-session.html"))
    await page.locator("[aria-pressed=true]", { hasText: "JavaScript" }).waitFor()
    // A browser offers to store what was typed into a password field.
    const field = page.getByLabel("Publishable key")
    expect(await field.getAttribute("type")).toBeNull()
    await expect(
      field.evaluate((one) => getComputedStyle(one).getPropertyValue("-webkit-text-security")),
    ).resolves.toBe("disc")
    await page.getByLabel("Publishable key").fill("svc_ak_secret")
    await submit.click()
    await said.filter({ hasText: "never a secret one" }).waitFor()
    await page.getByLabel("Publishable key").fill((await newKeys(instance.apiUrl, instance.docsUrl)).publishable)
    await submit.click()
    await said.filter({ hasText: "Status 200" }).waitFor()
    const { token } = JSON.parse(await shown.innerText()) as { token: string }
    await page.goto(at("/reference/relay/simulate.html"))
    await page.getByLabel("Session token").fill(token)
    await submit.click()
    // The example's transaction is a placeholder: the relay refuses it, and the token was good.
    await said.filter({ hasText: "Status 400" }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    expect(await keptBy(page), "nothing but the chosen tool").toEqual({ ...nothingKept, local: ["svc.tool"] })
    await page.goto(at("/reference/relay/send.html"))
    expect(await submit.count()).toBe(0)
  })

  test("the contents mark the current section after a jump, also near the page's end, and while scrolling", async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(at("/limits.html"))
    const links = page.locator(".contents a")
    const marked = page.locator(".contents a[aria-current]")
    for (const link of (await links.all()).slice(-4)) {
      await link.click()
      await marked.filter({ hasText: await link.innerText() }).waitFor()
    }
    await page.mouse.move(700, 500)
    await page.mouse.wheel(0, -100_000)
    await page.waitForFunction(() => scrollY === 0)
    expect(await links.nth(2).getAttribute("aria-current")).toBeNull()
    await page.mouse.wheel(0, 100_000)
    await marked.filter({ hasText: await links.last().innerText() }).waitFor()
  })

  test("without scripts every page is readable, and the search and stacks work", async () => {
    const plain = await browser.openAs({ javaScriptEnabled: false })
    await plain.goto(at("/getting-started.html"))
    expect(await plain.locator("article h1").innerText()).toBe("Getting started")
    expect(await plain.locator(".code button").count()).toBe(0)
    await plain.locator(".top .search input").fill("rate limit")
    await plain.keyboard.press("Enter")
    await plain.waitForURL(at("/search?q=rate+limit"))
    expect(await plain.locator(".results li").count()).toBeGreaterThan(3)
    await plain.goto(at("/stacks"))
    await plain.locator("article a", { hasText: "token-swaps" }).click()
    expect(await plain.locator("article").innerText()).toContain("Swap")
    expect(await plain.locator("svg.drawing").count()).toBe(1)
  })
})
