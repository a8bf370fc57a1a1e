// Takes the pictures of the README from all services on free ports.
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createPlatform } from "@svc/client"
import { startChromium } from "../test/browser/chromium.ts"
import { startInstance } from "./running/instance.ts"
import { createPerson } from "./running/operate.ts"

const platform = join(import.meta.dirname, "../apps/platform-api")
const folder = join(import.meta.dirname, "../docs/images")
const size = { width: 1200, height: 750 }
const rows = "[id='frame.live'] tbody tr"
const drawn = "[id='frame.live'] .plot[aria-label*=' points']"

let person = ""
const prepare = async (data: string): Promise<void> => {
  person = await createPerson({ SVC_DATA_DIR: data }, "owner@example.org")
}
const instance = await startInstance(undefined, prepare, {
  viewer: true,
  settings: { SVC_SAMPLE_TRAFFIC: "true" },
})
const browser = await startChromium()
try {
  const { page } = await browser.open(instance.docsUrl)
  const devtools = await page.context().newCDPSession(page)
  const shoot = async (file: string): Promise<void> => {
    // A third of the size of a PNG.
    const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 80 })
    await writeFile(file, Buffer.from(data, "base64"))
  }
  const open = async (path: string, ready: string): Promise<void> => {
    await page.goto(`${instance.docsUrl}${path}`)
    if (ready.startsWith(".found")) await page.locator(".top .search input").pressSequentially("rotate a key")
    await page.locator(ready).first().waitFor()
    if (ready === drawn) {
      // The chart starts with changes per second, until a record shows which fields exist.
      await page.locator(rows).nth(4).waitFor()
      // Enough for a line with changing amounts.
      await page.waitForFunction(() => Number(/(\d+) points/.exec(document.body.innerText)?.[1]) > 20, null, {
        timeout: 120_000,
      })
    }
  }
  const take = async (name: string, path: string, ready: string, scheme: "light" | "dark" = "light"): Promise<void> => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" })
    await open(path, ready)
    await shoot(join(folder, `${name}.webp`))
  }

  const { api_key: key } = await createPlatform({ apiUrl: instance.apiUrl }).signUp({ display_name: "Price watcher" })
  const { keys } = createPlatform({ apiUrl: instance.apiUrl, key })
  await keys.mint({ name: "worker" })
  await keys.mintPublishable({ name: "dashboard", origin_allowlist: ["https://app.example.com"] })
  const paused = await keys.mint({ name: "old laptop" })
  await keys.disable(paused.id)

  await page.setViewportSize(size)
  await take("home", "/", drawn)
  await take("operation", "/reference/platform/mint-session.html", ".tabs", "dark")
  await take("search", "/getting-started.html", ".found [role=option]")
  await take("stack", "/stacks/transfers", drawn)
  const signIn = async (secret: string): Promise<void> => {
    await open("/console", "[id='frame.console'] input")
    await page.getByLabel("Secret key").fill(secret)
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
  }
  await signIn(person)
  await page.emulateMedia({ colorScheme: "light" })
  await open("/console#/stacks", ".drop input")
  const ast = JSON.parse(await readFile(join(platform, "stacks/transfers.stack.json"), "utf8")) as {
    entities: unknown[]
  }
  const buffer = Buffer.from(JSON.stringify({ ...ast, entities: ast.entities.slice(0, -1) }))
  const file = { name: "transfers.stack.json", mimeType: "application/json", buffer }
  await page.locator(".drop input").setInputFiles(file)
  await page.getByLabel("Name in the registry").fill("transfers")
  await page.getByRole("button", { name: "Check" }).click()
  await page.locator(".draft li").first().waitFor()
  await page.getByRole("heading", { name: "Publish" }).evaluate((heading) => heading.scrollIntoView())
  await shoot(join(folder, "publish.webp"))
  await page.getByRole("button", { name: "Sign out" }).click()
  await signIn(key)
  await take("console", "/console#/keys", "[id='frame.console'] tbody tr:nth-child(4)", "dark")
} finally {
  await browser.close()
  await instance.stop()
}
