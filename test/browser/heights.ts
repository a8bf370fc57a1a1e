import type { Page } from "playwright-core"

/** Controls that aren't 40 px high, besides tabs, links that are buttons, and what copies. */
export const uneven = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, select, input:not([type=checkbox], [type=radio])")]
      .filter((one) => one.offsetHeight > 0 && one.closest(".tabs, .tools, .code, .copy, .menu") === null)
      .filter((one) => one.offsetHeight !== 40)
      .map((one) => `${one.offsetHeight} px: ${one.outerHTML.slice(0, 100)}`),
  )

/** Controls that are less than 40 px high, besides links within a sentence; or that the page isn't one for fingers. */
export const tooSmall = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("a, button, summary, select, input, label:has(> input)")]
      .filter((one) => one.offsetHeight > 0 && !one.matches("label input, .skip, .anchor"))
      .filter((one) => one.tagName !== "A" || one.parentElement?.textContent.trim() === one.textContent.trim())
      .map((one) => ({ height: one.getBoundingClientRect().height, html: one.outerHTML.slice(0, 100) }))
      .filter(({ height }) => height < 40)
      .map(({ height, html }) => `${height} px: ${html}`)
      .concat(matchMedia("(pointer: coarse)").matches ? [] : "no touch screen"),
  )

/** Choices of which a part of the text is hidden. */
export const cutChoices = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("select")].flatMap((one) => {
      const { width } = one.getBoundingClientRect()
      const whole = one.cloneNode(true) as HTMLElement
      whole.style.width = "max-content"
      whole.style.maxWidth = "none"
      document.body.append(whole)
      const wanted = whole.getBoundingClientRect().width
      whole.remove()
      return wanted > width + 1 ? [`${width} of ${wanted} px: ${one.outerHTML.slice(0, 100)}`] : []
    }),
  )
