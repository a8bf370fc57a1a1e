// The console in a real browser, on real services: a key's whole life, a version published by a dropped file, and attacks on both.
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { type Instance, startInstance } from "../scripts/running/instance.ts"
import { type Browser, noBrowser, looks, startChromium, type Tab } from "./browser/chromium.ts"
import { faultsOf, keptBy, nothingKept, reportPolicy, tooWide } from "./browser/faults.ts"
import { cutChoices, tooSmall, uneven } from "./browser/heights.ts"
import { onPaper } from "./browser/paper.ts"
import { createPerson } from "../scripts/running/operate.ts"

const platform = join(import.meta.dirname, "../apps/platform-api")
const ast = JSON.parse(readFileSync(join(platform, "stacks/transfers.stack.json"), "utf8")) as {
  entities: { state_name: string }[]
}
const shell = promisify(execFile)

let instance: Instance
let browser: Browser
let tab: Tab
let person = ""
let agent = ""
/** Every request of the tab: where it went, and whether a key was in its header. */
const requests: { readonly url: string; readonly key: string }[] = []
const keys = new Set<string>()

const consoleAt = (view = ""): string => `${instance.docsUrl}/console${view === "" ? "" : `#/${view}`}`
const call = async (path: string, key: string, method = "GET", body?: object) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const response = await fetch(`${instance.apiUrl}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const newAgent = async (): Promise<string> => {
  const key = String((await call("/api/agents/signup", "", "POST")).body["api_key"])
  keys.add(key)
  return key
}
const root = "[id='frame.console']"
const input = () => tab.page.getByLabel("Secret key")
const button = (name: string | RegExp) => tab.page.getByRole("button", { name, exact: true })
const alert = () => tab.page.locator(root).getByRole("alert")
const confirm = (verb: string) => tab.page.getByRole("dialog").getByRole("button", { name: verb, exact: true }).click()

/** Leaves the page, so that the next sign-in begins with nothing. */
const signIn = async (key: string, view = ""): Promise<void> => {
  await tab.page.goto(consoleAt())
  await tab.page.evaluate(() => sessionStorage.clear())
  await tab.page.goto("about:blank")
  await tab.page.goto(consoleAt(view))
  await input().fill(key)
  await tab.page.keyboard.press("Enter")
  await button("Sign out").waitFor()
}
/** Drops files where a reader would. */
const drop = async (...texts: string[]): Promise<void> => {
  const data = await tab.page.evaluateHandle((contents) => {
    const transfer = new DataTransfer()
    for (const text of contents)
      transfer.items.add(new File([text], "wallets.stack.json", { type: "application/json" }))
    return transfer
  }, texts)
  await tab.page.locator(".drop").dispatchEvent("drop", { dataTransfer: data })
}
/** Everything that the page holds, attributes and inputs too. */
const wholePage = () =>
  tab.page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      ...[...document.querySelectorAll("input, textarea")].map((one) => (one as HTMLInputElement).value),
      location.href,
      document.cookie,
      JSON.stringify(Object.entries(localStorage)),
    ].join("\n"),
  )

describe.skipIf(noBrowser)("the console in a browser", () => {
  beforeAll(async () => {
    browser = await startChromium()
    const prepare = async (folder: string): Promise<void> => {
      person = await createPerson({ SVC_DATA_DIR: folder }, "owner@example.org")
    }
    instance = await startInstance(undefined, prepare, { settings: { SVC_SIGNUPS_PER_HOUR: "100" } })
    agent = await newAgent()
    keys.add(person)
    tab = await browser.open("about:blank")
    tab.page.on("request", (request) => {
      requests.push({ url: request.url(), key: request.headers()["authorization"] ?? "" })
    })
    await reportPolicy(tab.page)
    await tab.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: instance.docsUrl })
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await instance?.stop()
  })

  afterEach(async () => {
    await tab.page.unrouteAll()
    tab.console()
  })

  test("a visitor creates an agent: its key is shown once, used at once, and never in a URL", async () => {
    const { page } = tab
    await page.goto(consoleAt())
    await input().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), "nothing to scroll").toBe(
      true,
    )
    await page.getByLabel("Name", { exact: true }).fill("price-watcher")
    await button("Create an agent").click()
    const shown = page.getByRole("region", { name: /^New key / })
    const key = await shown.locator("code").innerText()
    keys.add(key)
    expect(key).toMatch(/^svc_ak_/)
    await page.getByText("the agent price-watcher").waitFor()
    expect(await uneven(page)).toEqual([])
    expect(await faultsOf(page)).toEqual([])
    await button("I've stored it").click()
    expect(await wholePage()).not.toContain(key)
    await button("Sign out").click()
    expect(tab.console()).toEqual([])
  })

  test("a key that isn't secret, or that the platform doesn't know, is neither sent on nor stored", async () => {
    const { page } = tab
    const before = requests.length
    await page.goto(consoleAt())
    for (const [key, said] of [
      ["svc_pk_x", "publishable"],
      ["hello", "isn't a whole secret key"],
    ] as const) {
      await input().fill(key)
      await page.keyboard.press("Enter")
      await page.locator(root).getByRole("status").filter({ hasText: said }).waitFor()
    }
    expect(requests.slice(before).filter(({ url }) => url.startsWith(instance.apiUrl))).toEqual([])
    await input().fill(`svc_ak_${"A".repeat(38)}`)
    await button("Sign in").click()
    await alert().filter({ hasText: "invalid-api-key" }).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(await input().inputValue()).toBe("")
    await input().fill("hello")
    await page.keyboard.press("Enter")
    await page.locator(root).getByRole("status").filter({ hasText: "isn't a whole secret key" }).waitFor()
    expect(await alert().count(), "one refusal at a time").toBe(0)
    await input().fill(`svc_sk_${"A".repeat(38)}`)
    await page.keyboard.press("Enter")
    await alert().filter({ hasText: "a person asks the operator" }).waitFor()
  })

  test("a sign-up without a response says what to do, and a rejected one that nothing was created", async () => {
    const { page } = tab
    await page.goto(consoleAt())
    const cors = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" }
    const json = { error: "Too many sign-ups", code: "rate-limit-exceeded", retryable: true, request_id: "r-1" }
    for (const status of [0, 429]) {
      await page.route("**/api/agents/signup", (route) => {
        if (route.request().method() === "OPTIONS") return route.continue()
        return status === 0 ? route.abort() : route.fulfill({ status, headers: cors, json })
      })
      await button("Create an agent").click()
      await alert()
        .filter({ hasText: status === 0 ? "network-error" : "Too many" })
        .waitFor()
      const text = await page.locator(root).innerText()
      expect(text.includes("No agent was created."), String(status)).toBe(status > 0)
      expect(text.includes("create another one once the platform API responds"), String(status)).toBe(status === 0)
      await page.unrouteAll()
    }
  })

  test("a busy button keeps the focus, and further clicks send nothing", async () => {
    const { page } = tab
    const check = async (name: string | RegExp, path: string): Promise<void> => {
      const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      let times = 0
      await page.route(path, async (route) => {
        if (route.request().method() === "OPTIONS") return route.continue()
        times++
        sent.resolve()
        await released.promise
        return route.continue()
      })
      await button(name).focus()
      await page.keyboard.press("Enter")
      await sent.promise
      const busy = page.locator("button:focus[aria-disabled=true]")
      await busy.waitFor()
      await page.keyboard.press("Enter")
      await busy.click({ force: true })
      released.resolve()
      await busy.waitFor({ state: "detached" })
      expect(times, String(name)).toBe(1)
      await page.unrouteAll()
    }
    await page.goto(consoleAt())
    await page.evaluate(() => sessionStorage.clear())
    await page.goto("about:blank")
    await page.goto(consoleAt())
    await check("Create an agent", "**/api/agents/signup")
    await button("I've stored it").click()
    await check("Read the relay's limits for this account", "**/ws/sessions")
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await page.getByLabel("Name").fill("worker")
    await check("Mint", "**/api/agents/me/keys")
    await button("I've stored it").click()
    await page.locator("tbody tr", { hasText: "worker" }).getByRole("button", { name: "Disable" }).click()
    await check("Disable", "**/disable")
    await button("Sign out").click()
    await input().fill(agent)
    await check("Sign in", "**/api/agents/me/keys?limit=1")
    await signIn(person, "stacks")
    await drop(JSON.stringify(ast))
    await page.getByLabel("Name in the registry").fill("other")
    await check("Check", "**/check")
  })

  test("a key can be minted, copied, disabled, enabled, rotated and revoked, with a warning of what stops", async () => {
    const { page } = tab
    await signIn(agent, "keys")
    expect(await wholePage()).not.toContain(agent)
    expect(await page.evaluate(() => Object.keys(sessionStorage).toSorted())).toEqual([
      "svc.console.key",
      "svc.console.used",
    ])
    const works = async (key: string) => (await call("/api/agents/me", key)).status
    const row = page.locator("tbody tr", { hasText: "worker" })
    const copied = async (): Promise<string> => {
      await button("Copy the new key").click()
      const key = await page.evaluate(() => navigator.clipboard.readText())
      keys.add(key)
      await button("I've stored it").click()
      expect(await wholePage()).not.toContain(key)
      return key
    }
    await page.getByLabel("Name").fill("worker")
    await button("Mint").click()
    const first = await copied()
    expect(await works(first)).toBe(200)

    await row.getByRole("button", { name: "Disable" }).click()
    await page.getByRole("dialog").getByText("401 disabled-api-key").waitFor()
    await page.keyboard.press("Escape")
    expect(await works(first), "nothing was confirmed").toBe(200)
    await row.getByRole("button", { name: "Disable" }).click()
    await confirm("Disable")
    await row.getByText("disabled").waitFor()
    expect(await works(first)).toBe(401)
    await page.locator("button:focus", { hasText: "Enable" }).click()
    await row.getByText("active").waitFor()
    expect(await works(first)).toBe(200)

    await row.getByRole("button", { name: "Rotate" }).click()
    await page.getByLabel("Overlap").selectOption("0")
    await confirm("Rotate")
    const second = await copied()
    expect([await works(first), await works(second)]).toEqual([401, 200])

    await row.last().getByRole("button", { name: "Revoke" }).click()
    await page.getByRole("dialog").getByText("This can't be undone").waitFor()
    await confirm("Revoke")
    await row.getByText("active").waitFor({ state: "detached" })
    expect(await works(second)).toBe(401)
    await page.locator("[aria-label='Keys']:focus").waitFor()

    await page.getByLabel("Kind").selectOption("publishable")
    await page.getByLabel("Name").fill("page")
    await page.getByRole("textbox", { name: "Origin" }).fill("https://app.example.com")
    await button("Mint").click()
    await copied()
    await page.locator("tbody tr", { hasText: "https://app.example.com" }).waitFor()

    for (const name of ["laptop", "server"]) {
      await page.getByLabel("Name").fill(name)
      await button("Mint").click()
      await page.locator("tbody tr", { hasText: name }).waitFor()
    }
    expect(await button("Copy the new key").count(), "nobody can show the first one again").toBe(2)
    for (const left of [1, 0]) {
      await button("I've stored it").first().click()
      expect(await button("Copy the new key").count()).toBe(left)
    }
    expect(tab.console()).toEqual([])
  })

  test("the console's own key is rotated at once, and the console continues with its successor", async () => {
    const { page } = tab
    await signIn(await newAgent(), "keys")
    const before = await page.evaluate(() => sessionStorage.getItem("svc.console.key"))
    await button(/^Rotate svc_ak_/).click()
    await page.getByLabel("Overlap").selectOption("0")
    await confirm("Rotate")
    await alert().filter({ hasText: "expired-api-key" }).waitFor()
    await button("Use it in this console").click()
    await page.locator("tbody tr", { hasText: "this console" }).waitFor()
    const after = await page.evaluate(() => sessionStorage.getItem("svc.console.key"))
    keys.add(String(after))
    expect(after).not.toBe(before)
    expect(await wholePage(), "nobody has stored it yet").toContain(after)
    await button("I've stored it").click()
    expect(await wholePage()).not.toContain(after)
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H2")
    await button(/^Rotate svc_ak_/)
      .last()
      .click()
    await confirm("Rotate")
    await button("I've stored it").click()
    await page.getByText("This console uses a key that was replaced").waitFor()
  })

  test("revoking or disabling the console's own key signs out with a message", async () => {
    const { page } = tab
    const owner = await newAgent()
    const another = async () => {
      const key = String((await call("/api/agents/me/keys", owner, "POST", {})).body["key"])
      keys.add(key)
      return key
    }
    const own = page.locator("tbody tr", { hasText: "this console" })
    for (const [verb, past] of [
      ["Disable", "disabled"],
      ["Revoke", "revoked"],
    ]) {
      await signIn(await another(), "keys")
      await own.getByRole("button", { name: new RegExp(`^${verb}`) }).click()
      await confirm(String(verb))
      await page.getByText(`Signed out: you ${past} the key of this console.`).waitFor()
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    }
  })

  test("a dropped file is published: first the verdict and changes, then the run; rollback, stop and restart work", async () => {
    const { page } = tab
    const registry = async () => {
      const { status, body } = await call("/api/registry/wallets", person)
      return status === 200 ? body["version"] : body["code"]
    }
    await signIn(person, "stacks")
    await drop("{not json")
    await page.locator(".drop").getByText("isn't a JSON object").waitFor()
    await drop("{}", "{}")
    await page.locator(".drop").getByText("Drop one file").waitFor()
    await drop(JSON.stringify(ast))
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await page.getByText("a person", { exact: true }).waitFor()
    await page.goBack()
    await page.getByLabel("Name in the registry").fill("wallets")
    await page.getByLabel(/^Stream URL/).fill("wss://streams.example.org/wallets")
    await page.getByLabel(/^Visible to/).selectOption("public")
    await button("Check").click()
    await page.getByText("this is its first version").waitFor()
    await button("Publish…").click()
    expect(await registry(), "nothing is published before the confirmation").toBe("stack-not-found")
    await confirm("Publish")
    await page.getByRole("status").getByText("succeeded").waitFor()
    await page.getByRole("log").getByText("verify: succeeded").waitFor()
    expect(await registry()).toBe(1)

    await page.goto(consoleAt("stacks"))
    const { entities } = ast
    await drop(JSON.stringify({ ...ast, entities: entities.slice(0, -1) }))
    await page.getByLabel("Name in the registry").fill("wallets")
    await button("Check").click()
    const draft = page.getByRole("region", { name: "Draft" })
    await draft.locator("li", { hasText: "breaking" }).first().waitFor()
    await button("Publish…").click()
    await confirm("Publish and break readers")
    await page.getByRole("status").getByText("succeeded").waitFor()
    expect(await registry()).toBe(2)

    await page.getByRole("link", { name: "wallets", exact: true }).click()
    await page.getByRole("heading", { name: "Stack wallets" }).waitFor()
    await button("Difference from 1").waitFor()
    expect(await uneven(page)).toEqual([])
    await button("Difference from 1").click()
    await page.getByRole("region", { name: "Version 2 against 1" }).locator("li").first().waitFor()
    const row = page.getByRole("region", { name: "Deployments" }).locator("tbody tr")
    for (const [verb, said, then] of [
      ["Roll back", "An earlier version", 1],
      ["Stop", "404 stack-not-found", "stack-not-found"],
      ["Restart", "Readers get wallets again", 1],
    ] as const) {
      await row.getByRole("button", { name: `${verb} wallets` }).click()
      await page.getByRole("dialog").getByText(said).waitFor()
      if (verb === "Roll back")
        await page
          .getByRole("dialog")
          .getByRole("option", { name: /^1, \w{3} \d/ })
          .waitFor({ state: "attached" })
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await page.route("**/api/deployments?limit=100", async (route) => {
        await released
        await route.continue()
      })
      await confirm(verb)
      // The table knows nothing new of the deployment yet.
      if (verb === "Roll back")
        await row
          .getByRole("status")
          .filter({ hasText: /^Build 3 completed/ })
          .waitFor()
      release()
      await expect.poll(registry, { timeout: 20_000 }).toBe(then)
      await row.getByText("Build").waitFor({ state: "detached" })
      await page.unrouteAll()
    }
    await page.goto(consoleAt("changes"))
    await page.getByRole("region", { name: "Changes" }).getByText("restored").first().waitFor()
    await call("/api/specs/1", person, "PUT", { deprecated: { message: "Gone <b>soon</b>" } })
    await page.getByRole("region", { name: "Changes" }).getByText("“Gone <b>soon</b>”").waitFor()
    expect(tab.console()).toEqual([])
  }, 120_000)

  test("a verdict counts only for the checked name, and a file dropped elsewhere doesn't open", async () => {
    const { page } = tab
    await signIn(person, "stacks")
    await drop(JSON.stringify(ast))
    await page.getByLabel("Name in the registry").fill("wallets")
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(`${instance.apiUrl}/api/registry/wallets/check`, async (route) => {
      await released
      await route.continue()
    })
    await button("Check").click()
    await page.getByLabel("Name in the registry").fill("other")
    release()
    await page.waitForFunction(() =>
      [...document.querySelectorAll("button")].some(
        (one) => one.textContent === "Check" && one.ariaDisabled !== "true",
      ),
    )
    expect(await button("Publish…").count()).toBe(0)
    await page.unrouteAll()
    await button("Check").click()
    await page.getByText("Nothing is published as other").waitFor()
    const isOpened = await page.evaluate(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(["{}"], "a.json"))
      return document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }))
    })
    expect(isOpened).toBe(false)
  })

  test("an agent sees what is shared with it, and only buttons that it may use", async () => {
    const { page } = tab
    const { body } = await call("/api/agents/me", agent)
    await call("/api/specs/1", person, "PUT", { visibility: "private", shared_with: [body["slug"]] })
    await signIn(agent, "stacks")
    await page.getByRole("region", { name: "Specs" }).getByRole("link", { name: "wallets" }).waitFor()
    expect(await page.locator(".drop").count()).toBe(0)
    expect(await page.getByRole("button", { name: /^(?:Stop|Restart|Roll back)/ }).count()).toBe(0)
    await page.goto(consoleAt("account"))
    await page.getByText(String(body["slug"]), { exact: true }).waitFor()
    await button("Read the relay's limits for this account").click()
    await page.getByText("The operator has lowered none").waitFor()
    await page.goto(consoleAt("specs/1"))
    await page.getByText("The local stream of pnpm start serves public stacks only.").waitFor()
  })

  test("only a public stack's name and run link to its page", async () => {
    const { page } = tab
    await signIn(person, "runs/1")
    await page.getByText("Next: its versions").waitFor()
    expect(await page.locator(`${root} a[href*="/stacks/"]`).count()).toBe(0)
    await page.goto(consoleAt("changes"))
    const changes = page.getByRole("region", { name: "Changes" })
    await changes.locator("a[href='/stacks/transfers']").first().waitFor()
    await changes.locator("a[href='#/specs/1']").first().waitFor()
    expect(await changes.locator("a[href='/stacks/wallets']").count()).toBe(0)
  })

  test("the manual's table has the console's views, and an address that is none of them opens none", async () => {
    const { page } = tab
    await signIn(person)
    const manual = await (await fetch(`${instance.docsUrl}/console.md`)).text()
    const rows = [...manual.matchAll(/^\| ([A-Z]\w+) \|/gm)].map(([, name]) => name)
    const tabs = page.getByRole("navigation", { name: "Console" }).getByRole("link")
    expect(await tabs.allTextContents()).toEqual(rows.slice(1))
    for (const view of ["constructor", "specs", "specs/abc", "specs/0", "runs/01", "keys/1", "keys/", "Keys"]) {
      await page.goto(consoleAt(view))
      await page.getByRole("heading", { name: "There is no such view" }).waitFor()
      expect(await tabs.and(page.locator("[aria-current]")).count(), view).toBe(0)
      await page.goto(consoleAt("usage"))
      await page.getByRole("heading", { name: "Usage" }).waitFor()
    }
  })

  test("the commands shown in each view do what the view does", async () => {
    const { page } = tab
    await signIn(person)
    const commands = new Set<string>()
    for (const view of ["account", "keys", "usage", "stacks", "specs/1", "runs/1", "changes"]) {
      await page.goto(consoleAt(view))
      const summary = page.getByText("As curl", { exact: true })
      await summary.click()
      for (const line of (await page.locator(".as-curl code").innerText()).split("\n")) commands.add(line)
    }
    const env = { PATH: process.env["PATH"], SVC_API_KEY: person }
    const reading = [...commands].filter((line) => !/-X |--json|-sSN/.test(line))
    expect(reading.length).toBeGreaterThan(8)
    for (const line of reading) {
      const { stdout } = await shell("bash", ["-c", `${line} -o /dev/null -w '%{http_code}'`], { env })
      expect(`${line}: ${stdout}`).toBe(`${line}: 200`)
    }
    expect([...commands].join("\n")).not.toContain(person)
  })

  test("signing out, half an hour of inactivity, going back and reloading never reveal forgotten data", async () => {
    const { page } = tab
    await signIn(person, "keys")
    const shown = page.locator("tbody tr", { hasText: "this console" })
    await shown.waitFor()
    await page.reload()
    await shown.waitFor()
    // What a browser does with a page that it keeps for the way back.
    const turn = (name: string) =>
      page.evaluate((type) => void dispatchEvent(new PageTransitionEvent(type, { persisted: true })), name)
    await turn("pagehide")
    expect(await page.locator(root).innerText()).toBe("")
    await turn("pageshow")
    await shown.waitFor()
    await turn("pagehide")
    await page.evaluate(() => sessionStorage.clear())
    await turn("pageshow")
    await input().waitFor()
    expect(await shown.count()).toBe(0)

    await signIn(person, "keys")
    await shown.waitFor()
    await button("Sign out").click()
    await page.getByText("this tab has forgotten the key").waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    for (const move of [() => page.reload(), () => page.goBack(), () => page.goForward()]) {
      await move()
      if (page.url().startsWith(instance.docsUrl)) await input().waitFor()
      expect(await shown.count()).toBe(0)
    }

    await page.clock.install()
    await signIn(person, "usage")
    const asked = (): number => requests.filter(({ url }) => url.includes("/api/usage")).length
    await page.clock.fastForward("29:00")
    await button("Read again").click()
    await page.clock.fastForward("29:00")
    await button("Sign out").waitFor()
    const before = asked()
    // A list that grows scrolls the page, without a reader.
    await page.evaluate(() => void dispatchEvent(new Event("scroll")))
    await page.clock.fastForward("01:30")
    await page.getByText("forgotten after 30 minutes without use").waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(asked()).toBe(before)
    await page.clock.resume()
  })

  test("a key that stops working is reported in the service's words, and nothing is sent before Retry-After", async () => {
    const { page } = tab
    const { body } = await call("/api/agents/me/keys", agent, "POST", { name: "short" })
    const key = String(body["key"])
    keys.add(key)
    await signIn(key, "usage")
    await page.locator("[aria-label=Usage], p:text('No requests in these days.')").first().waitFor()
    await call(`/api/agents/me/keys/${String(body["id"])}`, agent, "DELETE")
    await button("Read again").click()
    await alert().filter({ hasText: "invalid-api-key" }).waitFor()
    expect(await alert().innerText()).toMatch(/Status 401, code invalid-api-key, request \S+/)
    expect(await alert().innerText()).toContain("This tab still keeps the key")
    expect(await page.evaluate(() => sessionStorage.length)).toBe(2)
    await page.getByRole("link", { name: "Account", exact: true }).click()
    await alert().filter({ hasText: "invalid-api-key" }).waitFor()
    await page.waitForLoadState("networkidle")
    expect(await page.locator(root).innerText(), "the registry responds to such a key as to anybody").not.toMatch(
      /limits/i,
    )
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Stacks" }).click()
    await page.getByRole("heading", { name: "Stacks" }).waitFor()
    await alert().first().waitFor()
    expect(await alert().count(), "one refusal, however much a view reads").toBe(1)
    await button("Sign out").click()
    await page.getByText("this tab has forgotten the key").waitFor()
    expect(await page.locator(root).innerText()).not.toContain("still works")

    await signIn(agent, "usage")
    // What signing in reads has come.
    await page.waitForLoadState("networkidle")
    let times = 0
    await page.route(`${instance.apiUrl}/**`, (route) => {
      if (route.request().method() === "OPTIONS") return route.continue()
      times++
      return route.fulfill({
        status: 429,
        headers: { "access-control-allow-origin": "*", "access-control-expose-headers": "*", "retry-after": "600" },
        json: { error: "Too many requests", code: "rate-limit-exceeded", retryable: true, request_id: "r-1" },
      })
    })
    await button("Read again").click()
    await alert().filter({ hasText: "Wait 10 minutes, as the service asks" }).waitFor()
    for (const view of ["Keys", "Stacks", "Account"]) {
      await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: view }).click()
      await alert().first().waitFor()
    }
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Changes" }).click()
    await page.getByText("asks to wait. This page goes on by itself").waitFor()
    await button("Sign out").click()
    await input().fill(agent)
    await button("Sign in").click()
    await alert().filter({ hasText: "Wait 10 minutes" }).waitFor()
    expect(times).toBe(1)
  })

  test("after a lost response the console says what to do; Escape can't hide an error; a new key stays until stored", async () => {
    const { page } = tab
    await signIn(await newAgent(), "keys")
    const held = (): {
      readonly sent: Promise<void>
      readonly release: () => void
      readonly released: Promise<void>
    } => {
      const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      void page.route(`${instance.apiUrl}/api/agents/me/keys**`, async (route) => {
        if (route.request().method() !== "POST") return route.continue()
        const response = await route.fetch()
        sent.resolve()
        await released.promise
        return isLost ? route.abort() : route.fulfill({ response })
      })
      return { sent: sent.promise, released: released.promise, release: released.resolve }
    }
    let isLost = false
    const minting = held()
    await page.getByLabel("Name").fill("worker")
    await button("Mint").click()
    await minting.sent
    const views = page.getByRole("navigation", { name: "Console" })
    await views.getByRole("link", { name: "Usage" }).click()
    await button("Read again").waitFor()
    minting.release()
    await button("Copy the new key").waitFor()
    await views.getByRole("link", { name: "Keys" }).click()
    await button("Copy the new key").click()
    keys.add(await page.evaluate(() => navigator.clipboard.readText()))
    const leaving = page.waitForEvent("dialog")
    await page.evaluate(() => void setTimeout(() => location.reload()))
    expect((await leaving).type()).toBe("beforeunload")
    await (await leaving).dismiss()
    await button("I've stored it").click()
    await page.unrouteAll()

    isLost = true
    const rotating = held()
    const row = page.locator("tbody tr", { hasText: "worker" }).first()
    await row.getByRole("button", { name: "Rotate" }).click()
    await confirm("Rotate")
    await rotating.sent
    const dialog = page.getByRole("dialog")
    // A browser lets a page refuse to close once.
    for (let times = 0; times < 3; times++) await page.keyboard.press("Escape")
    rotating.release()
    await dialog.getByText("Rotate the key again: an unused successor is revoked and replaced").waitFor()
    expect(await dialog.getByRole("alert").innerText()).toContain("code network-error")
    await page.unrouteAll()
    await confirm("Rotate")
    await button("Copy the new key").waitFor()
    await page.locator("tbody tr", { hasText: "replaced by" }).waitFor()
    await button("I've stored it").click()
  })

  test("a response in another shape is reported with its request, and an error links to its documentation", async () => {
    const { page } = tab
    await signIn(person)
    const headers = {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "*",
      "x-request-id": "r-odd",
    }
    let body = ""
    await page.route(`${instance.apiUrl}/api/**`, (route) =>
      route.request().method() === "OPTIONS"
        ? route.continue()
        : route.fulfill({ status: 200, headers, contentType: "application/json", body }),
    )
    for (const view of ["account", "keys", "usage", "stacks", "specs/1", "runs/1", "changes"]) {
      // An account with keys of which nothing is known is shown as one without any.
      for (body of ["null", "{}", ...(view === "account" ? [] : ["[{}]"])]) {
        await page.goto("about:blank")
        await page.goto(consoleAt(view))
        await alert().filter({ hasText: "code unexpected-answer, request r-odd" }).first().waitFor()
      }
    }
    await page.unrouteAll()
    const docs = `${instance.docsUrl}/errors.md#platform-spec-not-found`
    await page.goto(consoleAt("specs/999"))
    expect(await alert().first().getByRole("link").getAttribute("href")).toBe(docs)
  })

  test("hostile names, messages and hints are shown as text: markup, 10 kB, numbers past 2^53, names of object members", async () => {
    const { page } = tab
    await signIn(person, "account")
    const evil = `<img src=x onerror=alert(1)>\u202E"'</td><script>alert(2)</script>${"<b>".repeat(3500)}`
    const odd = {
      name: "__proto__",
      key_class: "publishable",
      key_hint: "svc_pk_…9007199254740993",
      origin_allowlist: [evil],
    }
    const isWritten = /name|description|message|label|origin|email|url|path|text|reason|successor|slug|^hint$|^error$/
    /** The response with this text in place of each that people write. */
    const spoilt = (value: unknown, member = ""): unknown => {
      if (typeof value === "string") return isWritten.test(member) ? evil : value
      if (Array.isArray(value)) return value.map((one) => spoilt(one, member))
      if (typeof value !== "object" || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoilt(one, name)]))
    }
    let status = 200
    await page.route(`${instance.apiUrl}/**`, async (route) => {
      const isStream = route.request().headers()["accept"] === "text/event-stream"
      if (isStream || route.request().method() !== "GET") return route.continue()
      const response = await route.fetch()
      const json = spoilt(await response.json()) as object
      const isKeys = /auth\/keys\?/.test(route.request().url())
      const error = { error: evil, code: evil, hint: evil, request_id: evil, details: { path: evil, reason: evil } }
      const rows = isKeys ? [...(json as object[]), Object.assign(spoilt((json as object[])[0]) as object, odd)] : json
      return route.fulfill({ response, status, json: status > 200 ? error : rows })
    })
    for (status of [400, 200]) {
      // Nobody writes anything that the usage shows.
      const views = ["account", "keys", "stacks", "specs/1", "runs/1", "changes"].concat(status === 400 ? "usage" : [])
      for (const view of views) {
        await page.goto("about:blank")
        await page.goto(consoleAt(view))
        await page.locator(root).getByText("<img src=x onerror=alert(1)>").first().waitFor()
        const text = await page.locator(root).innerText()
        expect(text.length, `${view} ${status}`).toBeLessThan(12_000)
        expect(text, `${view} ${status}`).not.toContain("\u202E")
        expect(await page.locator(`${root} :is(img, script, a[href^=javascript])`).count()).toBe(0)
      }
    }
    await page.goto(consoleAt("keys"))
    await page.getByText("svc_pk_…9007199254740993").waitFor()
    await button(/^Revoke svc_pk_/).click()
    await page.getByRole("dialog").waitFor()
    expect(await faultsOf(tab.page)).toEqual([])
  })

  test("a browser that blocks storage gets a message", async () => {
    const other = await browser.open("about:blank")
    await other.page.addInitScript(() => {
      const get = () => {
        throw new DOMException("Access is denied", "SecurityError")
      }
      Object.defineProperty(globalThis, "sessionStorage", { get })
    })
    await other.page.goto(consoleAt())
    await other.page.getByLabel("Secret key").fill(agent)
    await other.page.keyboard.press("Enter")
    const told = other.page.locator(root).getByRole("alert").filter({ hasText: "Access is denied" })
    await told.waitFor()
    expect(await told.count()).toBe(1)
    await other.page.close()
  })

  test("every view is accessible, wide and narrow, light and dark, and works with only a keyboard", async () => {
    const { page } = tab
    await signIn(person)
    for (const view of ["account", "keys", "usage", "stacks", "specs/1", "runs/1", "changes"]) {
      await page.goto(consoleAt(view))
      await page.locator(`${root} :is(table, dl, [role=log])`).first().waitFor()
      for (const [width, colorScheme] of looks) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        expect(await faultsOf(tab.page), `${view} ${width} ${colorScheme}`).toEqual([])
      }
      for (const width of [375, 768, 1920]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await tooWide(page), `${view} ${width}`).toEqual([])
      }
      await page.setViewportSize({ width: 375, height: 600 })
      expect(
        await page.locator("td").evaluateAll((cells) => cells.map((one) => getComputedStyle(one).textAlign)),
        view,
      ).not.toContain("end")
      expect(await onPaper(page), view).toEqual([])
    }
    await page.goto(consoleAt("stacks"))
    await drop(JSON.stringify(ast))
    await page.getByLabel("Name in the registry").waitFor()
    for (const width of [320, 375]) {
      await page.setViewportSize({ width, height: 600 })
      expect(await cutChoices(page)).toEqual([])
    }
    // The tab stands above what takes the focus.
    await page.getByRole("link", { name: "Run 1", exact: true }).click()
    await page.getByRole("heading", { name: "Run 1" }).waitFor()
    const [head, current] = [page.locator(".top"), page.locator(".views [aria-current]")]
    const [above, below] = [await head.boundingBox(), await current.boundingBox()]
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(consoleAt())
    await page.getByRole("link", { name: "Account" }).focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.waitForURL(consoleAt("keys"))
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe("Keys")
    await page
      .getByRole("button", { name: /^Revoke/ })
      .first()
      .focus()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor()
    expect(await faultsOf(tab.page)).toEqual([])
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Cancel")
    await page.keyboard.press("Enter")
    expect(await page.getByRole("dialog").count()).toBe(0)
    await button("Sign out").focus()
    await page.keyboard.press("Space")
    await input().waitFor()
    expect(await faultsOf(tab.page)).toEqual([])
    expect(tab.console()).toEqual([])
  })

  test("on a touch screen every control is at least 40 px high", async () => {
    const context = await tab.page
      .context()
      .browser()
      ?.newContext({
        hasTouch: true,
        isMobile: true,
        viewport: { width: 375, height: 800 },
      })
    const page = await (context ?? tab.page.context()).newPage()
    await page.goto(consoleAt())
    expect(await tooSmall(page)).toEqual([])
    await page.getByLabel("Secret key").fill(person)
    await page.keyboard.press("Enter")
    for (const view of ["account", "keys", "usage", "stacks", "specs/1", "runs/1", "changes"]) {
      await page.goto(consoleAt(view))
      await page.locator(`${root} :is(table, dl, [role=log])`).first().waitFor()
      expect(await tooSmall(page), view).toEqual([])
    }
    await context?.close()
  })

  test("no key was in a URL, a log or browser storage, or was sent anywhere but to the API", async () => {
    const urls = requests.map(({ url }) => url).join("\n")
    const log = instance.log()
    for (const key of keys) {
      expect(urls).not.toContain(key)
      expect(log).not.toContain(key)
    }
    const sent = requests.filter(({ key }) => key !== "")
    expect(sent.length).toBeGreaterThan(20)
    expect(sent.filter(({ url }) => !url.startsWith(`${instance.apiUrl}/`))).toEqual([])
    expect(new Set(requests.map(({ url }) => new URL(url).origin))).toEqual(
      new Set([instance.docsUrl, instance.apiUrl]),
    )
    expect(await keptBy(tab.page)).toEqual(nothingKept)
  })

  test("without scripts the page is readable, and says what scripts add", async () => {
    const context = await tab.page.context().browser()?.newContext({ javaScriptEnabled: false })
    const page = await (context ?? tab.page.context()).newPage()
    await page.goto(consoleAt())
    const text = async () => page.locator("article").innerText()
    expect(await text()).toContain("With JavaScript, this place asks for a key and shows the account")
    await page.getByText("How the console works").click()
    expect(await text()).toContain("What happens to the key")
    await context?.close()
  })
})
