import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Page } from "playwright-core"

const executablePath = "/usr/bin/chromium"

const hasChromium = existsSync(executablePath)
/** Whether tests in a browser are skipped: in CI a missing browser is a failure. */
export const noBrowser = !hasChromium && process.env["CI"] === undefined

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

export type Tab = {
  readonly page: Page
  /** What the browser's console has shown since it was last asked. */
  readonly console: () => string[]
}

export type Browser = {
  /** A tab of its own with the page at `url`. */
  readonly open: (url: string) => Promise<Tab>
  readonly close: () => Promise<void>
}

/** Widths and color schemes in which a page has to be accessible. */
export const looks = [
  [1280, "light"],
  [1280, "dark"],
  [320, "light"],
  [320, "dark"],
] as const

/** Debian's Chromium, with a new profile. */
export const startChromium = async (): Promise<Browser> => {
  if (!hasChromium) {
    throw new Error("Chromium is missing: apt-get update && apt-get install -y --no-install-recommends chromium")
  }
  const profile = await mkdtemp(join(tmpdir(), "svc-browser-"))
  const context = await chromium.launchPersistentContext(profile, { executablePath, args, headless: true })
  return {
    open: async (url) => {
      const page = await context.newPage()
      let lines: string[] = []
      page.on("console", (message) => lines.push(`${message.type()}: ${message.text()}`))
      await page.goto(url)
      return { page, console: () => lines.splice(0) }
    },
    close: async () => {
      await context.close()
      await rm(profile, { recursive: true, force: true })
    },
  }
}
