import { existsSync } from "node:fs"
import { type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { beforeTests } from "../start-service.ts"

const executablePath = "/usr/bin/chromium"

const hasChromium = existsSync(executablePath)
/** Whether tests in a browser are skipped: in CI a missing browser is a failure. */
export const noBrowser = !hasChromium && process.env["CI"] === undefined

const args = [
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

/** Widths and color schemes in which a page has to be accessible. */
export const looks = [
  [1280, "light"],
  [1280, "dark"],
  [320, "light"],
  [320, "dark"],
] as const

/** A phone with a touch screen, for `openAs`. */
export const phone = { hasTouch: true, isMobile: true, viewport: { width: 375, height: 800 } }

/** Debian's Chromium, with a new profile. */
export const startChromium = async () => {
  if (!hasChromium) {
    throw new Error("Chromium is missing: apt-get update && apt-get install -y --no-install-recommends chromium")
  }
  const browser = await chromium.launch({ executablePath, args })
  const context = await browser.newContext()
  return {
    /** Another tab of one profile, with the page at `url`. */
    open: async (url = "about:blank"): Promise<Tab> => {
      const page = await context.newPage()
      const lines: string[] = []
      page.on("console", (message) => lines.push(`${message.type()}: ${message.text()}`))
      await page.goto(url)
      return { page, console: () => lines.splice(0) }
    },
    /** An empty page of a profile of its own, until the browser is closed. */
    openAs: (options?: BrowserContextOptions): Promise<Page> => browser.newPage(options),
    close: () => browser.close(),
  }
}

export type Browser = Awaited<ReturnType<typeof startChromium>>

export const testBrowser = (): Browser => beforeTests(startChromium, ({ close }) => close())
