import { copyText, make } from "../dom.ts"

const shownMs = 1500

/** Adds a button that copies a block of code. */
export const addCopyButton = (block: HTMLElement): void => {
  const button = make("button", { type: "button" }, "Copy")
  button.addEventListener("click", async () => {
    // Without a clipboard the text can still be marked by hand.
    if (!(await copyText((block.querySelector("code")?.textContent ?? "").trimEnd()))) return
    button.textContent = "Copied"
    button.classList.add("done")
    setTimeout(() => {
      button.textContent = "Copy"
      button.classList.remove("done")
    }, shownMs)
  })
  block.append(button)
}

/** Shows code for several tools for one of them at a time. */
export const addTabs = (group: HTMLElement): void => {
  const blocks = [...group.querySelectorAll<HTMLElement>(":scope > .code")]
  if (blocks.length < 2) return
  const tabs = make("div", { class: "tabs" })
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
    tab.addEventListener("click", () => show(index))
    tabs.append(tab)
  }
  group.prepend(tabs)
  show(0)
}
