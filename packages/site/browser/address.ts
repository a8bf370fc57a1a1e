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
