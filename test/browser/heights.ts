import type { Page } from "playwright-core"

/** Controls that aren't 40 px high, besides tabs, links that are buttons, and what copies. */
export const uneven = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, select, input:not([type=checkbox], [type=radio])")]
      .filter((one) => one.offsetHeight > 0 && one.closest(".tabs, .tools, .code, .copy, .menu") === null)
      .filter((one) => one.offsetHeight !== 40)
      .map((one) => `${one.offsetHeight} px: ${one.outerHTML.slice(0, 100)}`),
  )
