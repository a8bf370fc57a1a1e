// Takes the pictures of the README: the way in, a page, the search and a stack, from all services on free ports.
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { startChromium } from "../test/browser/chromium.ts"
import { startInstance } from "./instance.ts"

const folder = join(import.meta.dirname, "../docs/images")
const size = { width: 1000, height: 625 }

await mkdir(folder, { recursive: true })
const instance = await startInstance()
const browser = await startChromium()
try {
  const { page } = await browser.open(instance.docsUrl)
  await page.setViewportSize(size)
  const take = async (name: string, path: string, ready: string, scheme: "light" | "dark" = "light"): Promise<void> => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" })
    await page.goto(`${instance.docsUrl}${path}`)
    if (name === "search") await page.locator(".top .search input").pressSequentially("rotate a key")
    await page.locator(ready).first().waitFor()
    await page.screenshot({ path: join(folder, `${name}.png`) })
  }
  await take("way-in", "/", "h1")
  await take("page", "/keys.html", "h1", "dark")
  await take("search", "/getting-started.html", ".found [role=option]")
  await take("stack", "/stacks/token-swaps", "svg.drawing")
} finally {
  await browser.close()
  await instance.stop()
}
