import type { SearchDocsResult } from "@svc/client"
import { pageLink } from "../../src/links.ts"
import { make, root } from "../dom.ts"

type Found = SearchDocsResult["results"][number]
type Answer = { readonly result?: { readonly structuredContent?: SearchDocsResult } }

const pauseMs = 120

const search = async (query: string): Promise<readonly Found[]> => {
  const call = { name: "search_docs", arguments: { query, limit: 8 } }
  const response = await fetch(`${root}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
  })
  const answer: Answer = await response.json()
  const found = answer.result?.structuredContent?.results
  if (found === undefined) throw new Error("no result")
  return found
}

const linkTo = ({ slug, anchor }: Found): string => pageLink(root, slug, anchor)

/** Shows pages while a reader types: `/` and Ctrl+K focus, arrows and Enter choose. */
export const addSuggestions = (form: HTMLFormElement, input: HTMLInputElement): void => {
  const name = { id: "frame.found", class: "found", role: "listbox", "aria-label": "Pages found", hidden: "" }
  const list = make("ul", name)
  form.append(list)
  const set = (attributes: Readonly<Record<string, string>>): void => {
    for (const [key, value] of Object.entries(attributes)) input.setAttribute(key, value)
  }
  set({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "frame.found", "aria-expanded": "false" })
  if (matchMedia("(hover: hover)").matches) set({ placeholder: "Search: press /", "aria-keyshortcuts": "/ Control+K" })
  let hrefs: readonly string[] = []
  let chosen = -1
  let asked = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const open = (index: number): void => location.assign(hrefs[index] ?? "")
  const close = (): void => {
    asked++
    list.hidden = true
    chosen = -1
    input.setAttribute("aria-expanded", "false")
    input.removeAttribute("aria-activedescendant")
  }
  const choose = (index: number): void => {
    // What is found meanwhile would take the place of what the reader chooses from.
    clearTimeout(timer)
    asked++
    list.children[chosen]?.setAttribute("aria-selected", "false")
    chosen = (index + list.children.length) % list.children.length
    const option = list.children[chosen]
    option?.setAttribute("aria-selected", "true")
    option?.scrollIntoView({ block: "nearest" })
    set({ "aria-activedescendant": option?.id ?? "" })
  }
  const option = (index: number, title: string, snippet: string): HTMLElement => {
    const attributes = { id: `frame.found-${index}`, role: "option", "aria-selected": "false" }
    const made = make("li", { ...attributes, "data-href": hrefs[index] ?? "" }, title, make("small", {}, snippet))
    made.addEventListener("mousedown", (event) => event.preventDefault())
    made.addEventListener("click", () => open(index))
    return made
  }
  const show = async (): Promise<void> => {
    const query = input.value.trim()
    const mine = ++asked
    if (query === "") return close()
    const found = await search(query).catch(() => undefined)
    const results = found ?? []
    if (mine !== asked) return
    chosen = -1
    input.removeAttribute("aria-activedescendant")
    hrefs = results.length === 0 ? [`${root}/search?q=${encodeURIComponent(query)}`] : results.map(linkTo)
    const titleOf = ({ title, section }: Found): string => (section === title ? title : `${title} › ${section}`)
    const options = results.map((one, index) => option(index, titleOf(one), one.snippet))
    const none = found === undefined ? "The search failed. Press Enter to try again" : "Nothing found"
    list.replaceChildren(...(options.length === 0 ? [option(0, none, "")] : options))
    list.hidden = false
    set({ "aria-expanded": "true" })
  }

  input.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(() => void show(), pauseMs)
  })
  input.addEventListener("blur", close)
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return
    if (event.key === "Escape") close()
    else if (event.key === "ArrowDown") choose(chosen + 1)
    else if (event.key === "ArrowUp") choose(chosen <= 0 ? list.children.length - 1 : chosen - 1)
    else if (event.key === "Enter" && chosen >= 0) open(chosen)
    else return
    event.preventDefault()
  })
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event
    const isTyping = /^(?:input|textarea|select)$/i.test(document.activeElement?.tagName ?? "")
    const isSlash = key === "/" && !isTyping && !ctrlKey && !metaKey && !altKey
    const isCtrlK = key.toLowerCase() === "k" && (ctrlKey || metaKey) && !altKey && !shiftKey
    if (!isSlash && !isCtrlK) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}
