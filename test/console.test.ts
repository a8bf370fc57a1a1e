// The console in a real browser, on real services: a key's whole life, a version published by a dropped file, and attacks on both.
// @module-tag long
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Page, Route } from "playwright-core"
import { afterEach, beforeAll, describe, expect, test } from "vitest"
import { createPerson } from "../scripts/running/operate.ts"
import { looks, noBrowser, phone, testBrowser } from "./browser/chromium.ts"
import { faultsOf, keptBy, nothingKept, reportPolicy, tooWide } from "./browser/faults.ts"
import { cutChoices, tooSmall, uneven } from "./browser/heights.ts"
import { onPaper } from "./browser/paper.ts"
import { beforeTests, testInstance } from "./start-service.ts"

const platform = join(import.meta.dirname, "../apps/platform-api")
const ast = JSON.parse(readFileSync(join(platform, "stacks/transfers.stack.json"), "utf8")) as {
  entities: { state_name: string }[]
}
const shell = promisify(execFile)

let person = ""
let agent = ""
let page: Page
const browser = testBrowser()
const prepare = async (folder: string): Promise<void> => {
  person = await createPerson({ SVC_DATA_DIR: folder }, "owner@example.org")
}
const instance = testInstance(undefined, prepare, { settings: { SVC_SIGNUPS_PER_HOUR: "100" } })
const tab = beforeTests(() => browser.open())
/** Every request of the tab: where it went, and whether a key was in its header. */
const requests: { readonly url: string; readonly key: string }[] = []
const keys = new Set<string>()
const views = ["account", "keys", "usage", "stacks", "specs/1", "runs/1", "changes"]
/** What a made-up response needs so that the page can read it. */
const readable = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" }

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
const input = () => page.getByLabel("Secret key")
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true })
const dialog = () => page.getByRole("dialog")
const confirm = (verb: string) => dialog().getByRole("button", { name: verb, exact: true }).click()
const region = (name: string | RegExp) => page.getByRole("region", { name })
const row = (hasText: string) => page.locator("tbody tr", { hasText })
const alert = () => page.locator(root).getByRole("alert")
const alerted = (hasText: string) => alert().filter({ hasText }).waitFor()
const said = (hasText: string) => page.locator(root).getByRole("status").filter({ hasText }).waitFor()
const shown = (text: string | RegExp) => page.getByText(text).waitFor()
const kept = () => page.evaluate(() => Object.keys(sessionStorage).toSorted())
const tabs = () => page.getByRole("navigation", { name: "Console" }).getByRole("link")
const turnTo = (name: string) => tabs().filter({ hasText: name }).click()
const ready = (at = page) => at.locator(`${root} :is(table, dl, [role=log])`).first().waitFor()

/** Opens a view anew, after leaving the page. */
const open = async (view = ""): Promise<void> => {
  await page.goto("about:blank")
  await page.goto(consoleAt(view))
}
const openFresh = async (view = ""): Promise<void> => {
  await page.goto(consoleAt())
  await page.evaluate(() => sessionStorage.clear())
  await open(view)
}
const signIn = async (key: string, view = ""): Promise<void> => {
  await openFresh(view)
  await enter(key)
  await button("Sign out").waitFor()
}
/** Holds requests back, besides preflights, until `release`; `sent` is the first of them. */
const hold = async (path: string, goOn: (route: Route) => Promise<void> = (route) => route.continue()) => {
  const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let times = 0
  await page.route(path, async (route) => {
    if (route.request().method() === "OPTIONS") return route.continue()
    times++
    sent.resolve()
    await released.promise
    return goOn(route)
  })
  return { sent: sent.promise, release: released.resolve, times: () => times }
}
const drop = async (...texts: string[]): Promise<void> => {
  const data = await page.evaluateHandle((contents) => {
    const transfer = new DataTransfer()
    for (const text of contents)
      transfer.items.add(new File([text], "wallets.stack.json", { type: "application/json" }))
    return transfer
  }, texts)
  await page.locator(".drop").dispatchEvent("drop", { dataTransfer: data })
}
/** Everything that the page holds, attributes and inputs too. */
const wholePage = () =>
  page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      ...[...document.querySelectorAll("input, textarea")].map((one) => (one as HTMLInputElement).value),
      location.href,
      document.cookie,
      JSON.stringify(Object.entries(localStorage)),
    ].join("\n"),
  )
const enter = async (key: string): Promise<void> => {
  await input().fill(key)
  await page.keyboard.press("Enter")
}
const mint = async (name: string): Promise<void> => {
  await page.getByLabel("Name").fill(name)
  await button("Mint").click()
}
const focused = () => page.evaluate(() => document.activeElement?.tagName)
const stored = () => button("I've stored it").click()
/** The new key that is shown, as the copy button gives it. */
const copyKey = async (): Promise<string> => {
  await button("Copy the new key").click()
  const key = await page.evaluate(() => navigator.clipboard.readText())
  keys.add(key)
  return key
}

describe.skipIf(noBrowser)("the console in a browser", () => {
  beforeAll(async () => {
    page = tab.page
    agent = await newAgent()
    keys.add(person)
    page.on("request", (request) => {
      requests.push({ url: request.url(), key: request.headers()["authorization"] ?? "" })
    })
    await reportPolicy(page)
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: instance.docsUrl })
  })

  afterEach(async () => {
    await page.unrouteAll()
    tab.console()
  })

  test("a visitor creates an agent: its key is shown once, used at once, and never in a URL", async () => {
    await page.goto(consoleAt())
    await input().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), "nothing to scroll").toBe(
      true,
    )
    await page.getByLabel("Name", { exact: true }).fill("price-watcher")
    await button("Create an agent").click()
    const key = await copyKey()
    expect(key).toMatch(/^svc_ak_/)
    expect(
      await region(/^New key /)
        .locator("code")
        .innerText(),
    ).toBe(key)
    await shown("the agent price-watcher")
    expect(await uneven(page)).toEqual([])
    expect(await faultsOf(page)).toEqual([])
    await stored()
    expect(await wholePage()).not.toContain(key)
    await button("Sign out").click()
    expect(tab.console()).toEqual([])
  })

  test("a key that isn't secret, or that the platform doesn't know, is neither sent on nor stored", async () => {
    const before = requests.length
    await page.goto(consoleAt())
    for (const [key, fault] of [
      ["svc_pk_x", "publishable"],
      ["hello", "isn't a whole secret key"],
    ] as const) {
      await enter(key)
      await said(fault)
    }
    expect(requests.slice(before).filter(({ url }) => url.startsWith(instance.apiUrl))).toEqual([])
    await input().fill(`svc_ak_${"A".repeat(38)}`)
    await button("Sign in").click()
    await alerted("invalid-api-key")
    expect(await kept()).toEqual([])
    expect(await input().inputValue()).toBe("")
    await enter("hello")
    await said("isn't a whole secret key")
    expect(await alert().count(), "one refusal at a time").toBe(0)
    await enter(`svc_sk_${"A".repeat(38)}`)
    await alerted("a person asks the operator")
  })

  test("a sign-up whose response comes after a sign-in shows its key all the same", async () => {
    await openFresh()
    const signUp = await hold("**/api/agents/signup")
    await button("Create an agent").click()
    await signUp.sent
    await enter(person)
    await button("Sign out").waitFor()
    signUp.release()
    const key = await copyKey()
    expect(await page.evaluate(() => sessionStorage.getItem("svc.console.key"))).toBe(key)
    await page.locator("dd", { hasText: "the agent " }).waitFor()
    await stored()
    await button("Sign out").click()
  })

  test("a sign-up without a response says what to do, and a rejected one that nothing was created", async () => {
    await page.goto(consoleAt())
    const json = { error: "Too many sign-ups", code: "rate-limit-exceeded", retryable: true, request_id: "r-1" }
    for (const status of [0, 429]) {
      await page.route("**/api/agents/signup", (route) => {
        if (route.request().method() === "OPTIONS") return route.continue()
        return status === 0 ? route.abort() : route.fulfill({ status, headers: readable, json })
      })
      await button("Create an agent").click()
      await alerted(status === 0 ? "network-error" : "Too many")
      const text = await page.locator(root).innerText()
      expect(text.includes("No agent was created."), String(status)).toBe(status > 0)
      expect(text.includes("create another one once the platform API responds"), String(status)).toBe(status === 0)
      await page.unrouteAll()
    }
  })

  test("a busy button keeps the focus, and further clicks send nothing", async () => {
    const check = async (name: string | RegExp, path: string): Promise<void> => {
      const { sent, release, times } = await hold(path)
      await button(name).focus()
      await page.keyboard.press("Enter")
      await sent
      const busy = page.locator("button:focus[aria-disabled=true]")
      await busy.waitFor()
      await page.keyboard.press("Enter")
      await busy.click({ force: true })
      release()
      await busy.waitFor({ state: "detached" })
      expect(times(), String(name)).toBe(1)
      await page.unrouteAll()
    }
    await openFresh()
    await check("Create an agent", "**/api/agents/signup")
    await stored()
    await check("Read the relay's limits for this account", "**/ws/sessions")
    await turnTo("Keys")
    await page.getByLabel("Name").fill("worker")
    await check("Mint", "**/api/agents/me/keys")
    await stored()
    await row("worker").getByRole("button", { name: "Disable" }).click()
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
    await signIn(agent, "keys")
    expect(await wholePage()).not.toContain(agent)
    expect(await kept()).toEqual(["svc.console.key", "svc.console.used"])
    const works = async (key: string) => (await call("/api/agents/me", key)).status
    const worker = row("worker")
    const copied = async (): Promise<string> => {
      const key = await copyKey()
      await stored()
      expect(await wholePage()).not.toContain(key)
      return key
    }
    await mint("worker")
    const first = await copied()
    expect(await works(first)).toBe(200)

    await worker.getByRole("button", { name: "Disable" }).click()
    await dialog().getByText("401 disabled-api-key").waitFor()
    await page.keyboard.press("Escape")
    expect(await works(first), "nothing was confirmed").toBe(200)
    await worker.getByRole("button", { name: "Disable" }).click()
    await confirm("Disable")
    await worker.getByText("disabled").waitFor()
    expect(await works(first)).toBe(401)
    await page.locator("button:focus", { hasText: "Enable" }).click()
    await worker.getByText("active").waitFor()
    expect(await works(first)).toBe(200)

    await worker.getByRole("button", { name: "Rotate" }).click()
    await page.getByLabel("Overlap").selectOption("0")
    await confirm("Rotate")
    const second = await copied()
    expect([await works(first), await works(second)]).toEqual([401, 200])

    await worker.last().getByRole("button", { name: "Revoke" }).click()
    await dialog().getByText("This can't be undone").waitFor()
    await confirm("Revoke")
    await worker.getByText("active").waitFor({ state: "detached" })
    expect(await works(second)).toBe(401)
    await page.locator("[aria-label='Keys']:focus").waitFor()

    await page.getByLabel("Kind").selectOption("publishable")
    await page.getByLabel("Name").fill("page")
    await page.getByRole("textbox", { name: "Origin" }).fill("https://app.example.com")
    await button("Mint").click()
    await copied()
    await row("https://app.example.com").waitFor()

    for (const name of ["laptop", "server"]) {
      await mint(name)
      await row(name).waitFor()
    }
    expect(await button("Copy the new key").count(), "nobody can show the first one again").toBe(2)
    for (const left of [1, 0]) {
      await button("I've stored it").first().click()
      expect(await button("Copy the new key").count()).toBe(left)
    }
    expect(tab.console()).toEqual([])
  })

  test("the console's own key is rotated at once, and the console continues with its successor", async () => {
    await signIn(await newAgent(), "keys")
    const own = () => page.evaluate(() => sessionStorage.getItem("svc.console.key"))
    const before = await own()
    await button(/^Rotate svc_ak_/).click()
    await page.getByLabel("Overlap").selectOption("0")
    await confirm("Rotate")
    await alerted("expired-api-key")
    await button("Use it in this console").click()
    await row("this console").waitFor()
    const after = await own()
    keys.add(String(after))
    expect(after).not.toBe(before)
    expect(await wholePage(), "nobody has stored it yet").toContain(after)
    await stored()
    expect(await wholePage()).not.toContain(after)
    expect(await focused()).toBe("H2")
    await button(/^Rotate svc_ak_/)
      .last()
      .click()
    await confirm("Rotate")
    const successor = await copyKey()
    await stored()
    await shown("This console uses a key that was replaced")
    const offered = () => page.locator("tbody").getByRole("button").allInnerTexts()
    expect(await offered(), "all that a replaced key may do").toEqual(["Rotate"])
    expect(await button("Mint").count()).toBe(0)
    await row(`replaced by ${successor.slice(0, 7)}…${successor.slice(-4)}`)
      .getByRole("button")
      .click()
    await dialog().getByText("which nobody has used, is revoked").waitFor()
    await page.keyboard.press("Escape")
    await call("/api/agents/me", successor)
    await button(/^Rotate svc_ak_/).click()
    await dialog().getByText("which nobody has used").waitFor({ state: "detached" })
    await page.keyboard.press("Escape")
    await open("keys")
    await row("replaced by").first().waitFor()
    expect(await offered(), "the platform rotates no key whose successor was used").toEqual([])
    await open("account")
    await page.getByText("1, and 1 replaced").waitFor()
  })

  test("revoking or disabling the console's own key signs out with a message", async () => {
    const owner = await newAgent()
    const another = async () => {
      const key = String((await call("/api/agents/me/keys", owner, "POST", {})).body["key"])
      keys.add(key)
      return key
    }
    const own = row("this console")
    for (const [verb, past] of [
      ["Disable", "disabled"],
      ["Revoke", "revoked"],
    ]) {
      await signIn(await another(), "keys")
      await own.getByRole("button", { name: new RegExp(`^${verb}`) }).click()
      await confirm(String(verb))
      await shown(`Signed out: you ${past} the key of this console.`)
      expect(await kept()).toEqual([])
    }
  })

  test("a dropped file is published: first the verdict and changes, then the run; rollback, stop and restart work", async () => {
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
    await turnTo("Keys")
    await page.getByText("a person", { exact: true }).waitFor()
    await page.goBack()
    await page.getByLabel("Name in the registry").fill("wallets")
    // The spec is created before its URL is refused: another URL has to reach it.
    const { websocket_url: taken } = (await call("/api/registry/transfers", person)).body
    await page.getByLabel(/^Stream URL/).fill(String(taken))
    await page.getByLabel(/^Visible to/).selectOption("public")
    await button("Check").click()
    await shown("this is its first version")
    await button("Publish…").click()
    await confirm("Publish")
    await dialog().getByText("Another stack has this websocket_url").waitFor()
    expect(tab.console().join()).toContain("409")
    await dialog().getByRole("button", { name: "Cancel" }).click()
    await page.getByLabel(/^Stream URL/).fill("wss://streams.example.org/wallets")
    await button("Check").click()
    await button("Publish…").click()
    await dialog().getByText("Its stream URL becomes wss://streams.example.org/wallets.").waitFor()
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
    const draft = region("Draft")
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
    await region("Version 2 against 1").locator("li").first().waitFor()
    const deployment = region("Deployments").locator("tbody tr")
    for (const [verb, warned, then] of [
      ["Roll back", "An earlier version", 1],
      ["Stop", "404 stack-not-found", "stack-not-found"],
      ["Restart", "Readers get wallets again", 1],
    ] as const) {
      await deployment.getByRole("button", { name: `${verb} wallets` }).click()
      await dialog().getByText(warned).waitFor()
      if (verb === "Roll back")
        await page
          .getByRole("dialog")
          .getByRole("option", { name: /^1, \w{3} \d/ })
          .waitFor({ state: "attached" })
      const { release } = await hold("**/api/deployments?limit=100")
      await confirm(verb)
      // The table knows nothing new of the deployment yet.
      if (verb === "Roll back")
        await deployment
          .getByRole("status")
          .filter({ hasText: /^Build 3 completed/ })
          .waitFor()
      release()
      await expect.poll(registry).toBe(then)
      await deployment.getByText("Build").waitFor({ state: "detached" })
      await page.unrouteAll()
    }

    const [spec] = (await call("/api/specs", person)).body as unknown as { id: number }[]
    const waits = { workflow: "publish", spec_id: spec?.id, ast_payload: { ...ast, entities: entities.slice(0, -1) } }
    const run = (await call("/api/automation/runs", person, "POST", waits)).body["id"]
    await open(`runs/${String(run)}`)
    await button("Cancel").click()
    await button("Retry").waitFor()
    const json = { error: "The spec wasn't found.", code: "spec-not-found" }
    await page.route("**/api/specs/1", (route) => route.fulfill({ status: 404, headers: readable, json }))
    await page.reload()
    await page.getByText("of a deleted spec").waitFor()
    expect(await button("Retry").count(), "nothing publishes for a spec that is gone").toBe(0)
    await page.unrouteAll()
    await page.reload()
    tab.console()
    await button("Retry").click()
    await dialog().getByText("A new run publishes").waitFor()
    await confirm("Retry")
    await button("Approve and go on").click()
    await dialog().getByText("removed").first().waitFor()
    expect(await registry(), "an approval publishes nothing before the confirmation").toBe(1)
    await confirm("Publish and break readers")
    await page.getByRole("status").getByText("succeeded").waitFor()
    expect(await registry()).toBe(2)
    expect(await focused(), "the focus stays when its button goes").toBe("H2")

    await page.goto(consoleAt("changes"))
    await region("Changes").getByText("restored").first().waitFor()
    await call("/api/specs/1", person, "PUT", { deprecated: { message: "Gone <b>soon</b>" } })
    await region("Changes").getByText("“Gone <b>soon</b>”").waitFor()
    expect(tab.console()).toEqual([])
  })

  test("a verdict counts only for the checked name, and a file dropped elsewhere doesn't open", async () => {
    await signIn(person, "stacks")
    await drop(JSON.stringify(ast))
    await page.getByLabel("Name in the registry").fill("wallets")
    const { release } = await hold(`${instance.apiUrl}/api/registry/wallets/check`)
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
    await shown("Nothing is published as other")
    await page.getByLabel("Name in the registry").fill("transfers")
    await button("Check").click()
    await shown("Another stack has this name. Choose another name.")
    expect(await button("Publish…").count(), "it would leave a spec behind").toBe(0)
    const isOpened = await page.evaluate(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(["{}"], "a.json"))
      return document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }))
    })
    expect(isOpened).toBe(false)
  })

  test("an agent sees what is shared with it, and only buttons that it may use", async () => {
    const { body } = await call("/api/agents/me", agent)
    await call("/api/specs/1", person, "PUT", { visibility: "private", shared_with: [body["slug"]] })
    await signIn(agent, "stacks")
    await region("Specs").getByRole("link", { name: "wallets" }).waitFor()
    expect(await page.locator(".drop").count()).toBe(0)
    expect(await page.getByRole("button", { name: /^(?:Stop|Restart|Roll back)/ }).count()).toBe(0)
    await page.goto(consoleAt("account"))
    await page.getByText(String(body["slug"]), { exact: true }).waitFor()
    await button("Read the relay's limits for this account").click()
    await shown("The operator has lowered none")
    await page.goto(consoleAt("specs/1"))
    await shown("The local stream of pnpm start serves public stacks only.")
  })

  test("only a public stack's name and run link to its page", async () => {
    await signIn(person, "runs/1")
    await shown("Next: its versions")
    expect(await page.locator(`${root} a[href*="/stacks/"]`).count()).toBe(0)
    await page.goto(consoleAt("changes"))
    const changes = region("Changes")
    await changes.locator("a[href='/stacks/transfers']").first().waitFor()
    await changes.locator("a[href='#/specs/1']").first().waitFor()
    expect(await changes.locator("a[href='/stacks/wallets']").count()).toBe(0)
  })

  test("a deprecated stack says why, and what follows it", async () => {
    await signIn(person)
    await page.route(/\/api\/specs\/1$/, async (route) => {
      const response = await route.fetch()
      const deprecated = { message: "It ends in May.", successor: "transfers", since: "2026-11-30T00:00:00.000Z" }
      await route.fulfill({ response, json: { ...(await response.json()), deprecated } })
    })
    await page.goto(consoleAt("specs/1"))
    expect(await page.locator(".note.care").innerText()).toMatch(/^It ends in May\.\s+Use transfers\.$/)
  })

  test("the manual's table has the console's views, and an address that is none of them opens none", async () => {
    await signIn(person)
    const manual = await (await fetch(`${instance.docsUrl}/console.md`)).text()
    const rows = [...manual.matchAll(/^\| ([A-Z]\w+) \|/gm)].map(([, name]) => name)
    expect(await tabs().allTextContents()).toEqual(rows.slice(1))
    for (const view of ["constructor", "specs", "specs/abc", "specs/0", "runs/01", "keys/1", "keys/", "Keys"]) {
      await page.goto(consoleAt(view))
      await page.getByRole("heading", { name: "There is no such view" }).waitFor()
      expect(await tabs().and(page.locator("[aria-current]")).count(), view).toBe(0)
      await page.goto(consoleAt("usage"))
      await page.getByRole("heading", { name: "Usage" }).waitFor()
    }
  })

  test("the commands shown in each view do what the view does", async () => {
    await signIn(person)
    const commands = new Set<string>()
    for (const view of views) {
      // Not from one view to the next, which shows the former one for a moment.
      await page.goto("about:blank")
      await page.goto(consoleAt(view))
      await page.getByText("As curl", { exact: true }).click()
      for (const line of (await page.locator(".as-curl code").innerText()).split("\n")) commands.add(line)
    }
    const env = { PATH: process.env["PATH"], SVC_API_KEY: person }
    const reading = [...commands].filter((line) => !/-X |--json|-sSN/.test(line))
    expect(reading.length).toBeGreaterThan(8)
    for (const line of reading) {
      const { stdout } = await shell("bash", ["-c", `${line} -o /dev/null -w '%{http_code}'`], { env })
      expect(`${line}: ${stdout}`).toBe(`${line}: 200`)
    }
    const all = [...commands].join("\n")
    expect(all).not.toContain(person)
    // What a dropped file, the buttons of a deployment and those of a key send.
    for (const sent of ["/api/specs -H", "-X PUT", "/stop", "/restart", "/rollback", "/rotate"])
      expect(all).toContain(sent)
  })

  test("an account's keys are among its facts, not among its limits", async () => {
    await signIn(person, "account")
    await shown("Registry reads with this key")
    await shown("Active keys")
    expect(await page.locator("h3 ~ .facts").innerText()).not.toContain("keys")
  })

  test("without a stack nobody can say which limits are lowered", async () => {
    await signIn(agent)
    await ready()
    await page.route("**/api/registry?limit=1", (route) => route.fulfill({ headers: readable, json: [] }))
    await button("Read the relay's limits for this account").click()
    await alerted("There is no stack")
    expect(await page.locator(root).innerText()).not.toContain("lowered none")
  })

  test("further pages of a list keep each record once while the first page moves on", async () => {
    await signIn(person, "stacks")
    let newest = 30
    let spec: number | null = null
    const runOf = (id: number) => ({
      id,
      spec_id: id < 3 ? spec : null,
      status: "failed",
      created_at: "2026-01-01T00:00:00Z",
    })
    await page.route("**/api/automation/runs?*", (route) => {
      const offset = Number(new URL(route.request().url()).searchParams.get("offset") ?? 0)
      const json = Array.from({ length: newest - offset }, (_, at) => runOf(newest - offset - at)).slice(0, 20)
      const link = offset === 0 ? '</api/automation/runs?limit=20&offset=20>; rel="next"' : ""
      return route.fulfill({ headers: { ...readable, link }, json })
    })
    await page.clock.install()
    await open("stacks")
    const runs = () => region("Runs").locator("tbody tr td:first-child").allInnerTexts()
    const upTo = (last: number) => Array.from({ length: last }, (_, at) => `Run ${last - at}`)
    await expect.poll(runs).toHaveLength(20)
    await region("Runs").getByRole("button", { name: "Show more" }).click()
    await expect.poll(runs).toEqual(upTo(30))
    newest = 32
    await page.clock.runFor(10_000)
    await expect.poll(runs).toEqual(upTo(32))
    // Those of one spec may all be behind the first page.
    await region("Specs").getByRole("link", { name: "wallets" }).click()
    await shown("None among the latest.")
    spec = Number(/\d+$/.exec(page.url())?.[0])
    await button("Show more").click()
    await expect.poll(runs).toEqual(upTo(2))
  })

  test("signing out, half an hour of inactivity, going back and reloading never reveal forgotten data", async () => {
    await signIn(person, "keys")
    const own = row("this console")
    await own.waitFor()
    await page.reload()
    await own.waitFor()
    // What a browser does with a page that it keeps for the way back.
    const turn = (name: string) =>
      page.evaluate((type) => void dispatchEvent(new PageTransitionEvent(type, { persisted: true })), name)
    await turn("pagehide")
    expect(await page.locator(root).innerText()).toBe("")
    await turn("pageshow")
    await own.waitFor()
    await turn("pagehide")
    await page.evaluate(() => sessionStorage.clear())
    await turn("pageshow")
    await input().waitFor()
    expect(await own.count()).toBe(0)

    await signIn(person, "keys")
    await own.waitFor()
    await button("Sign out").click()
    await shown("this tab has forgotten the key")
    expect(await kept()).toEqual([])
    for (const move of [() => page.reload(), () => page.goBack(), () => page.goForward()]) {
      await move()
      if (page.url().startsWith(instance.docsUrl)) await input().waitFor()
      expect(await own.count()).toBe(0)
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
    await shown("forgotten after 30 minutes without use")
    expect(await kept()).toEqual([])
    expect(asked()).toBe(before)
    await page.clock.resume()
  })

  test("a key that stops working is reported in the service's words, and nothing is sent before Retry-After", async () => {
    const { body } = await call("/api/agents/me/keys", agent, "POST", { name: "short" })
    const key = String(body["key"])
    keys.add(key)
    await signIn(key, "usage")
    await page.locator("[aria-label=Usage], p:text('No requests in these days.')").first().waitFor()
    await call(`/api/agents/me/keys/${String(body["id"])}`, agent, "DELETE")
    await button("Read again").click()
    await alerted("invalid-api-key")
    expect(await alert().innerText()).toMatch(/Status 401, code invalid-api-key, request \S+/)
    expect(await alert().innerText()).toContain("This tab still keeps the key")
    expect(await kept()).toHaveLength(2)
    await turnTo("Account")
    await alerted("invalid-api-key")
    await page.waitForLoadState("networkidle")
    expect(await page.locator(root).innerText(), "the registry responds to such a key as to anybody").not.toMatch(
      /limits/i,
    )
    await turnTo("Stacks")
    await page.getByRole("heading", { name: "Stacks" }).waitFor()
    await alert().first().waitFor()
    expect(await alert().count(), "one refusal, however much a view reads").toBe(1)
    await button("Sign out").click()
    await shown("this tab has forgotten the key")
    expect(await page.locator(root).innerText()).not.toContain("still works")

    await signIn(agent, "usage")
    // What signing in reads has come.
    await page.waitForLoadState("networkidle")
    const { release, times } = await hold(`${instance.apiUrl}/**`, (route) =>
      route.fulfill({
        status: 429,
        headers: { ...readable, "retry-after": "600" },
        json: { error: "Too many requests", code: "rate-limit-exceeded", retryable: true, request_id: "r-1" },
      }),
    )
    release()
    await button("Read again").click()
    await alerted("Wait 10 minutes, as the service asks")
    for (const view of ["Keys", "Stacks", "Account"]) {
      await turnTo(view)
      await alert().first().waitFor()
    }
    await turnTo("Changes")
    await shown("asks to wait. This page goes on by itself")
    await button("Sign out").click()
    await enter(agent)
    await alerted("Wait 10 minutes")
    expect(times()).toBe(1)
  })

  test("what isn't sent, because a proxy asked to wait, wasn't done", async () => {
    await signIn(await newAgent(), "keys")
    await row("signup").waitFor()
    await page.route(`${instance.apiUrl}/api/usage*`, (route) =>
      route.fulfill({ status: 503, headers: { ...readable, "retry-after": "600" }, body: "busy" }),
    )
    await turnTo("Usage")
    await alerted("Wait 10 minutes")
    await turnTo("Keys")
    await page.getByLabel("Name").fill("worker")
    await button("Mint").click()
    await page.getByRole("form", { name: "Mint a key" }).getByRole("alert").waitFor()
    expect(await page.locator(root).innerText()).not.toContain("may exist")
  })

  test("after a lost response the console says what to do; Escape can't hide an error; a new key stays until stored", async () => {
    await signIn(await newAgent(), "keys")
    const minting = await hold("**/api/agents/me/keys")
    await mint("worker")
    await minting.sent
    await turnTo("Usage")
    await button("Read again").waitFor()
    minting.release()
    await button("Copy the new key").waitFor()
    await turnTo("Keys")
    await copyKey()
    const leaving = page.waitForEvent("dialog")
    await page.evaluate(() => void setTimeout(() => location.reload()))
    expect((await leaving).type()).toBe("beforeunload")
    await (await leaving).dismiss()
    await stored()
    await page.unrouteAll()

    // The service does it, and its response is lost.
    const rotating = await hold("**/rotate", async (route) => {
      await route.fetch()
      return route.abort()
    })
    await row("worker").first().getByRole("button", { name: "Rotate" }).click()
    await confirm("Rotate")
    await rotating.sent
    // A browser lets a page refuse to close once.
    for (let times = 0; times < 3; times++) await page.keyboard.press("Escape")
    rotating.release()
    await dialog().getByText("Rotate the key again: an unused successor is revoked and replaced").waitFor()
    expect(await dialog().getByRole("alert").innerText()).toContain("code network-error")
    await page.unrouteAll()
    await confirm("Rotate")
    await button("Copy the new key").waitFor()
    await row("replaced by").waitFor()
    await stored()
  })

  test("a read that was cut or failed at a proxy is repeated by itself, in every view that says so", async () => {
    await signIn(person, "stacks")
    for (const fault of [
      { status: 500, contentType: "text/html", body: "<h1>Internal Server Error</h1>" },
      { status: 200, contentType: "application/json", body: '[{"id":1,"na' },
    ]) {
      await page.route(`${instance.apiUrl}/**`, (route) => route.fulfill({ ...fault, headers: readable }))
      for (const view of ["account", "keys", "usage", "stacks", "specs/1", "runs/1"]) {
        await open(view)
        await alert().filter({ hasText: "that can't be read. It is read again by itself" }).first().waitFor()
      }
      await page.unrouteAll()
      await ready()
      await expect.poll(() => alert().count()).toBe(0)
    }
    tab.console()
  })

  test("a response in another shape is reported with its request, and an error links to its documentation", async () => {
    await signIn(person)
    const headers = { ...readable, "x-request-id": "r-odd" }
    let body = ""
    await page.route(`${instance.apiUrl}/api/**`, (route) =>
      route.request().method() === "OPTIONS"
        ? route.continue()
        : route.fulfill({ status: 200, headers, contentType: "application/json", body }),
    )
    for (const view of views) {
      // An account with keys of which nothing is known is shown as one without any.
      for (body of ["null", "{}", ...(view === "account" ? [] : ["[{}]"])]) {
        await open(view)
        await alert().filter({ hasText: "code unexpected-answer, request r-odd" }).first().waitFor()
      }
    }
    await page.unrouteAll()
    const docs = `${instance.docsUrl}/errors.md#platform-spec-not-found`
    await page.goto(consoleAt("specs/999"))
    expect(await alert().first().getByRole("link").getAttribute("href")).toBe(docs)
  })

  test("hostile names, messages and hints are shown as text: markup, 10 kB, numbers past 2^53, names of object members", async () => {
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
      for (const view of views.filter((one) => one !== "usage" || status === 400)) {
        await open(view)
        await page.locator(root).getByText("<img src=x onerror=alert(1)>").first().waitFor()
        const text = await page.locator(root).innerText()
        expect(text.length, `${view} ${status}`).toBeLessThan(12_000)
        expect(text, `${view} ${status}`).not.toContain("\u202E")
        expect(await page.locator(`${root} :is(img, script, a[href^=javascript])`).count()).toBe(0)
        for (const width of [320, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          expect(await tooWide(page), `${view} ${status} ${width}`).toEqual([])
        }
      }
    }
    await page.goto(consoleAt("keys"))
    await shown("svc_pk_…9007199254740993")
    await button(/^Revoke svc_pk_/).click()
    await dialog().waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test("a browser that blocks storage gets a message", async () => {
    const other = await browser.openAs()
    await other.addInitScript(() => {
      const get = () => {
        throw new DOMException("Access is denied", "SecurityError")
      }
      Object.defineProperty(globalThis, "sessionStorage", { get })
    })
    await other.goto(consoleAt())
    await other.getByLabel("Secret key").fill(agent)
    await other.keyboard.press("Enter")
    const told = other.locator(root).getByRole("alert").filter({ hasText: "Access is denied" })
    await told.waitFor()
    expect(await told.count()).toBe(1)
  })

  test("every view is accessible, wide and narrow, light and dark, and works with only a keyboard", async () => {
    await signIn(person)
    for (const view of views) {
      await page.goto(consoleAt(view))
      await ready()
      for (const [width, colorScheme] of looks) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        expect(await faultsOf(page), `${view} ${width} ${colorScheme}`).toEqual([])
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
    await dialog().waitFor()
    expect(await faultsOf(page)).toEqual([])
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Cancel")
    await page.keyboard.press("Enter")
    expect(await dialog().count()).toBe(0)
    await button("Sign out").focus()
    await page.keyboard.press("Space")
    await input().waitFor()
    expect(await faultsOf(page)).toEqual([])
    expect(tab.console()).toEqual([])
  })

  test("on a touch screen every control is at least 40 px high", async () => {
    const touched = await browser.openAs(phone)
    await touched.goto(consoleAt())
    expect(await tooSmall(touched)).toEqual([])
    await touched.getByLabel("Secret key").fill(person)
    await touched.keyboard.press("Enter")
    for (const view of views) {
      await touched.goto(consoleAt(view))
      await ready(touched)
      expect(await tooSmall(touched), view).toEqual([])
    }
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
    expect(await keptBy(page)).toEqual(nothingKept)
  })

  test("without scripts the page is readable, and says what scripts add", async () => {
    const plain = await browser.openAs({ javaScriptEnabled: false })
    await plain.goto(consoleAt())
    const text = () => plain.locator("article").innerText()
    expect(await text()).toContain("With JavaScript, this place asks for a key and shows the account")
    await plain.getByText("How the console works").click()
    expect(await text()).toContain("What happens to the key")
  })
})
