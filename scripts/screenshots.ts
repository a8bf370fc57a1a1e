// Takes the pictures of the README: the way in, an operation, the search and a stack, from all services on free ports.
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { startChromium } from "../test/browser/chromium.ts"
import { startInstance } from "./running/instance.ts"

const folder = join(import.meta.dirname, "../docs/images")
const size = { width: 1200, height: 750 }

await mkdir(folder, { recursive: true })
const instance = await startInstance()
const browser = await startChromium()
try {
  const { page } = await browser.open(instance.docsUrl)
  await page.setViewportSize(size)
  const devtools = await page.context().newCDPSession(page)
  const take = async (name: string, path: string, ready: string, scheme: "light" | "dark" = "light"): Promise<void> => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" })
    await page.goto(`${instance.docsUrl}${path}`)
    if (name === "search") await page.locator(".top .search input").pressSequentially("rotate a key")
    await page.locator(ready).first().waitFor()
    // A third of what it takes as PNG.
    const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 80 })
    await writeFile(join(folder, `${name}.webp`), Buffer.from(data, "base64"))
  }
  await take("way-in", "/", "h1")
  await take("operation", "/reference/platform/mint-session.html", ".tabs", "dark")
  await take("search", "/getting-started.html", ".found [role=option]")
  await take("stack", "/stacks/token-swaps", "svg.drawing")
} finally {
  await browser.close()
  await instance.stop()
}
