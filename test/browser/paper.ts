import type { Page } from "playwright-core"

/** What a printed page shouldn't have: controls, what sticks to the window, what scrolls, and what is wider than the paper. */
export const onPaper = async (page: Page): Promise<readonly string[]> => {
  const size = page.viewportSize()
  await page.setViewportSize({ width: 700, height: 1000 })
  await page.emulateMedia({ media: "print" })
  const found = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("body *")].flatMap((one) => {
      const { width, height, right } = one.getBoundingClientRect()
      if (width === 0 || height === 0) return []
      const { position, overflowY } = getComputedStyle(one)
      const faults = [
        one.matches("nav, header, form, input, select, button") && "a control",
        (position === "sticky" || position === "fixed") && position,
        overflowY !== "visible" && one.scrollHeight > one.clientHeight + 1 && "cut",
        right > innerWidth + 1 && `ends at ${right}`,
      ]
      return faults.filter((fault) => fault !== false).map((fault) => `${fault}: ${one.outerHTML.slice(0, 100)}`)
    }),
  )
  await page.emulateMedia({ media: null })
  if (size !== null) await page.setViewportSize(size)
  return found
}
