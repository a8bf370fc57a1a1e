// What a reader chose on a page, in the query of its URL: back, reload and a link keep it. Nothing secret is ever in it.

/** @param isStep whether "back" undoes the choice */
export const noteInAddress = (choices: Readonly<Record<string, string>>, isStep = false): void => {
  const chosen = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(choices)) {
    if (value === "") chosen.delete(name)
    else chosen.set(name, value)
  }
  const url = location.pathname + (chosen.size === 0 ? "" : `?${chosen}`) + location.hash
  if (isStep) history.pushState(null, "", url)
  else history.replaceState(null, "", url)
}

const toolItem = "svc.tool"

/** The tool whose code the reader chose last, here or on another page. A browser that lets a site store nothing throws. */
export const chosenTool = (): string | null => {
  const here = new URLSearchParams(location.search).get("in")
  try {
    return here ?? localStorage.getItem(toolItem)
  } catch {
    return here
  }
}

export const chooseTool = (name: string): void => {
  noteInAddress({ in: name })
  try {
    localStorage.setItem(toolItem, name)
  } catch {
    // Then it holds for this page.
  }
}
