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

/** What axe-core finds wrong, whether the page is wider than the window, and what was reported about its policy. */
export const faultsOf = async (page: Page, options: axe.RunOptions = {}): Promise<string[]> => {
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(async (chosen) => {
    const { axe: run, reported = [] } = globalThis as unknown as Globals
    const { violations } = await run.run(chosen)
    const { scrollWidth } = document.documentElement
    return [
      ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`),
      ...(scrollWidth > innerWidth ? [`${scrollWidth} wide`] : []),
      ...reported,
    ]
  }, options)
}

/** What the page's origin keeps in the browser. */
export const keptBy = (page: Page): Promise<{ local: number; session: number; cookie: string }> =>
  page.evaluate(() => ({ local: localStorage.length, session: sessionStorage.length, cookie: document.cookie }))

export const nothingKept = { local: 0, session: 0, cookie: "" }
