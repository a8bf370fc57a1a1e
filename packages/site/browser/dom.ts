/** The URL path before every link of the pages: empty, or with a slash in front. */
export const root = document.body.dataset["root"] ?? ""

/** An element with attributes and children; text is text, never markup. */
export const make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] => {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

/** Copies text, which may be on its way still; false where the browser has no clipboard, as on plain HTTP, or the text can't be had. */
export const copyText = async (text: string | Promise<string>): Promise<boolean> => {
  const type = "text/plain"
  try {
    if (typeof text === "string") await navigator.clipboard.writeText(text)
    // Safari writes only what was promised while the reader clicked.
    else
      await navigator.clipboard.write([
        new ClipboardItem({ [type]: text.then((known) => new Blob([known], { type })) }),
      ])
    return true
  } catch {
    return false
  }
}
