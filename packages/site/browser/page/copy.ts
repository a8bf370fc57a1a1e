import { chooseTool, chosenTool } from "../address.ts"
import { copyText, make } from "../dom.ts"

const shownMs = 1500

const copyButton = (name: string, textOf: () => string | Promise<string>): HTMLElement => {
  const button = make("button", { type: "button" }, name)
  button.addEventListener("click", async () => {
    // Without a clipboard the text can still be marked by hand.
    if (!(await copyText(textOf()))) return
    button.textContent = "Copied"
    setTimeout(() => (button.textContent = name), shownMs)
  })
  return button
}

export const addCopyButton = (block: HTMLElement): void =>
  block.append(copyButton("Copy", () => (block.querySelector("code")?.textContent ?? "").trimEnd()))

/** Adds a button that copies the page's Markdown, to hand it to an agent. @param link to the Markdown */
export const addPageCopy = (link: HTMLAnchorElement): void =>
  link.after(
    copyButton("Copy for an agent", async () => {
      const response = await fetch(link.href)
      if (!response.ok) throw new Error(`Status ${response.status}`)
      return response.text()
    }),
  )

const groups: ((tool: string) => void)[] = []

/** Shows code for several tools for one of them at a time. */
export const addTabs = (group: HTMLElement): void => {
  const blocks = [...group.querySelectorAll<HTMLElement>(":scope > .code")]
  if (blocks.length < 2) return
  const tabs = make("div", { class: "tabs" })
  const names: string[] = []
  const show = (chosen: number): void => {
    for (const [index, block] of blocks.entries()) {
      block.hidden = index !== chosen
      tabs.children[index]?.setAttribute("aria-pressed", String(index === chosen))
    }
  }
  for (const [index, block] of blocks.entries()) {
    const label = block.querySelector(".title")
    const name = label?.textContent ?? block.dataset["language"] ?? `${index + 1}`
    const tab = make("button", { type: "button" }, name)
    label?.remove()
    names.push(name)
    tab.addEventListener("click", () => {
      chooseTool(name)
      for (const showTool of groups) showTool(name)
      // Another block of this group may have the same name.
      show(index)
    })
    tabs.append(tab)
  }
  group.prepend(tabs)
  show(Math.max(0, names.indexOf(chosenTool() ?? "")))
  // A group without the tool goes on showing what it shows.
  groups.push((name) => (names.includes(name) ? show(names.indexOf(name)) : undefined))
}
