// All that the pages do beyond being read: copy, find while typing, and show the registry. No framework, no other origin
// but the API's.
const root = document.body.dataset.root ?? ""

/** An element with attributes and children; text is text, never markup. */
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

// Copying

const addCopyButton = (code) => {
  const button = make("button", { type: "button" }, "Copy")
  button.addEventListener("click", async () => {
    // On plain HTTP browsers have no clipboard; the text can still be marked by hand.
    const copied = await navigator.clipboard?.writeText(code.querySelector("code").textContent.trimEnd()).then(
      () => true,
      () => false,
    )
    if (!copied) return
    button.textContent = "Copied"
    button.classList.add("done")
    setTimeout(() => {
      button.textContent = "Copy"
      button.classList.remove("done")
    }, 1500)
  })
  code.append(button)
}

// Searching

const search = async (query) => {
  const call = { name: "search_docs", arguments: { query, limit: 8 } }
  const answer = await fetch(`${root}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
  })
  return (await answer.json()).result?.structuredContent?.results ?? []
}

const addSuggestions = (form) => {
  const input = form.querySelector("input")
  const list = make("ul", { id: "found", class: "found", role: "listbox", "aria-label": "Pages found", hidden: "" })
  form.append(list)
  const set = (attributes) => {
    for (const [key, value] of Object.entries(attributes)) input.setAttribute(key, value)
  }
  set({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "found", "aria-expanded": "false" })
  let chosen = -1
  let asked = 0
  let timer
  const close = () => {
    asked++
    list.hidden = true
    chosen = -1
    input.setAttribute("aria-expanded", "false")
    input.removeAttribute("aria-activedescendant")
  }
  const choose = (index) => {
    list.children[chosen]?.setAttribute("aria-selected", "false")
    chosen = (index + list.children.length) % list.children.length
    const option = list.children[chosen]
    option.setAttribute("aria-selected", "true")
    option.scrollIntoView({ block: "nearest" })
    set({ "aria-activedescendant": option.id })
  }
  const show = async () => {
    const query = input.value.trim()
    const mine = ++asked
    if (query === "") return close()
    const results = await search(query).catch(() => [])
    if (mine !== asked) return
    if (results.length === 0) return close()
    chosen = -1
    input.removeAttribute("aria-activedescendant")
    list.replaceChildren(
      ...results.map(({ slug, title, section, anchor, snippet }, index) => {
        const name = section === title ? title : `${title} › ${section}`
        const option = make(
          "li",
          { id: `found-${index}`, role: "option", "aria-selected": "false" },
          name,
          make("small", {}, snippet),
        )
        const path = slug.split("/").map(encodeURIComponent).join("/")
        option.dataset.href = `${root}/${path}.html${anchor === "" ? "" : `#${encodeURIComponent(anchor)}`}`
        option.addEventListener("mousedown", (event) => event.preventDefault())
        option.addEventListener("click", () => location.assign(option.dataset.href))
        return option
      }),
    )
    list.hidden = false
    set({ "aria-expanded": "true" })
  }
  input.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(show, 120)
  })
  input.addEventListener("blur", close)
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return
    if (event.key === "Escape") close()
    else if (event.key === "ArrowDown") choose(chosen + 1)
    else if (event.key === "ArrowUp") choose(chosen <= 0 ? list.children.length - 1 : chosen - 1)
    else if (event.key === "Enter" && chosen >= 0) location.assign(list.children[chosen].dataset.href)
    else return
    event.preventDefault()
  })
  document.addEventListener("keydown", (event) => {
    const typing = /^(?:input|textarea|select)$/i.test(document.activeElement?.tagName ?? "")
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}

for (const code of document.querySelectorAll(".code")) addCopyButton(code)
addSuggestions(document.querySelector(".top .search"))
