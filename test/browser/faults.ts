import axe from "axe-core"
import type { Page } from "playwright-core"

type Globals = { readonly axe: typeof axe; readonly reported?: readonly string[] }

/** Keeps what the browser reports about the policies of this tab's pages, for `faultsOf`. */
export const reportPolicy = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const reported: string[] = []
    Object.assign(globalThis, { reported })
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      reported.push(`${violatedDirective} ${blockedURI}`),
    )
  })

type Shift = PerformanceEntry & {
  readonly value: number
  readonly hadRecentInput: boolean
  readonly sources: readonly { readonly node: Node | null }[]
}

const mostShift = 0.05

/** How much of the page moved since it was opened while nobody touched it, besides records that newer ones push down. */
const shiftOf = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const shifts: Shift[] = []
    const observer = new PerformanceObserver((list) => shifts.push(...(list.getEntries() as Shift[])))
    observer.observe({ type: "layout-shift", buffered: true })
    // Without a screen, Chromium sometimes draws no frame: then nothing moves, and no frame is waited for.
    await new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(resolve))
      setTimeout(resolve, 1_000)
    })
    observer.disconnect()
    const isRecord = ({ node }: { readonly node: Node | null }): boolean =>
      (node instanceof Element ? node : node?.parentElement)?.closest(".live tbody") != null
    const unasked = shifts.filter((one) => !one.hadRecentInput && !one.sources.some(isRecord))
    return unasked.reduce((sum, { value }) => sum + value, 0)
  })

/**
 * What axe-core finds wrong, whether the page is wider than the window, what moved by itself, and what was reported about its
 * policy.
 */
export const faultsOf = async (page: Page, options: axe.RunOptions = {}): Promise<string[]> => {
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(axe.source)
  const shift = await shiftOf(page)
  const found = await page.evaluate(async (chosen) => {
    const { axe: run, reported = [] } = globalThis as unknown as Globals
    const { violations } = await run.run(chosen)
    const { scrollWidth } = document.documentElement
    return [
      ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`),
      ...(scrollWidth > innerWidth ? [`${scrollWidth} wide`] : []),
      ...reported,
    ]
  }, options)
  return shift < mostShift ? found : [...found, `layout shift ${shift.toFixed(3)}`]
}

/** The tables, or the page itself, that have more to the side. */
export const tooWide = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const wide = [...document.querySelectorAll(".table, html")].filter((one) => one.scrollWidth > one.clientWidth)
    return wide.map((one) => `${one.clientWidth} of ${one.scrollWidth}: ${one.textContent.slice(0, 200)}`)
  })

/** What the page's origin keeps in the browser. */
export const keptBy = (page: Page): Promise<{ local: string[]; session: string[]; cookie: string }> =>
  page.evaluate(() => ({
    local: Object.keys(localStorage),
    session: Object.keys(sessionStorage),
    cookie: document.cookie,
  }))

export const nothingKept = { local: [], session: [], cookie: "" }
