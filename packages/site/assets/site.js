// All that the pages do beyond being read: copy, find while typing, and show the registry. No framework, no other origin
// but the API's.
const root = document.body.dataset.root ?? ""

/** An element with attributes and children; text is text, never markup. */
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children.filter(Boolean))
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

/** Code for several tools is shown for one of them at a time. */
const addTabs = (group) => {
  const blocks = [...group.querySelectorAll(":scope > .code")]
  if (blocks.length < 2) return
  const tabs = make("div", { class: "tabs" })
  const show = (chosen) => {
    for (const [index, block] of blocks.entries()) {
      block.hidden = index !== chosen
      tabs.children[index].setAttribute("aria-pressed", String(index === chosen))
    }
  }
  for (const [index, block] of blocks.entries()) {
    const label = block.querySelector(".title")
    const tab = make("button", { type: "button" }, label?.textContent ?? block.dataset.language ?? `${index + 1}`)
    label?.remove()
    tab.addEventListener("click", () => show(index))
    tabs.append(tab)
  }
  group.prepend(tabs)
  show(0)
}
for (const group of document.querySelectorAll(".group")) addTabs(group)

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
  const list = make("ul", {
    id: "frame.found",
    class: "found",
    role: "listbox",
    "aria-label": "Pages found",
    hidden: "",
  })
  form.append(list)
  const set = (attributes) => {
    for (const [key, value] of Object.entries(attributes)) input.setAttribute(key, value)
  }
  set({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "frame.found", "aria-expanded": "false" })
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
    chosen = -1
    input.removeAttribute("aria-activedescendant")
    const path = (slug) => slug.split("/").map(encodeURIComponent).join("/")
    const found = results.map(({ slug, title, section, anchor, snippet }) => [
      section === title ? title : `${title} › ${section}`,
      snippet,
      `/${path(slug)}.html${anchor === "" ? "" : `#${encodeURIComponent(anchor)}`}`,
    ])
    if (found.length === 0) found.push(["Nothing found", "", `/search?q=${encodeURIComponent(query)}`])
    list.replaceChildren(
      ...found.map(([name, snippet, href], index) => {
        const option = make(
          "li",
          { id: `frame.found-${index}`, role: "option", "aria-selected": "false" },
          name,
          make("small", {}, snippet),
        )
        option.dataset.href = root + href
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
    const isSlash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey
    const isCtrlK =
      event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
    if (!isSlash && !isCtrlK) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}

for (const code of document.querySelectorAll(".code:not([data-language=http])")) addCopyButton(code)
addSuggestions(document.querySelector(".top .search"))

// Where the reader is

// The section that the reader jumped to counts as read until the page is moved by hand, wherever it came to stand.
let jumped = location.hash
const isShown = (heading) => heading !== null && heading.getBoundingClientRect().top < innerHeight

/** Marks the entry of the contents whose section is being read. */
const markReader = () => {
  const links = [...document.querySelectorAll(".contents li a")]
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  // Near the page's end the last sections can't come to the top: the line that they have to pass moves down.
  const left = document.documentElement.scrollHeight - innerHeight - scrollY
  const line = 130 + Math.max(0, innerHeight - 130 - left)
  const behind = headings.findIndex((heading) => heading !== null && heading.getBoundingClientRect().top > line)
  const target = links.findIndex((link, index) => link.hash === jumped && isShown(headings[index]))
  const current = target === -1 ? (behind === -1 ? links.length : behind) - 1 : target
  for (const [index, link] of links.entries())
    if (index === current) link.setAttribute("aria-current", "true")
    else link.removeAttribute("aria-current")
}
const jump = () => {
  jumped = location.hash
  markReader()
}
const moved = () => (jumped = "")
document.addEventListener("scroll", markReader, { passive: true })
addEventListener("hashchange", jump)
for (const name of ["wheel", "touchmove", "keydown"]) addEventListener(name, moved, { passive: true })

// In a long section the page's own entry may be far down.
const sidebar = document.querySelector(".sidebar")
const entry = sidebar.querySelector("[aria-current]")
if (entry !== null) sidebar.scrollTop = entry.offsetTop - sidebar.clientHeight / 2

// The versions of a stack, read from the API whenever its page is opened

const getJson = async (url) => {
  const answer = await fetch(url)
  return answer.ok ? answer.json() : undefined
}

/** A table without the columns that say nothing in any row. */
const table = (heads, rows) => {
  const said = heads.map((_, column) => rows.some((row) => row[column] !== ""))
  const row = (kind, cells) =>
    make(
      "tr",
      {},
      ...cells
        .map((cell, column) => make(kind, kind === "td" && column > 0 ? { "data-label": heads[column] } : {}, cell))
        .filter((_, column) => said[column]),
    )
  return make(
    "div",
    { class: "table", tabindex: "0" },
    make("table", {}, make("thead", {}, row("th", heads)), make("tbody", {}, ...rows.map((cells) => row("td", cells)))),
  )
}

const showVersions = async (place, { api, stack }) => {
  const url = `${api}/api/registry/${encodeURIComponent(stack)}`
  const versions = await getJson(`${url}/versions`)
  if (!Array.isArray(versions) || versions.length === 0) return
  const { changes = [] } = (versions.length > 1 && (await getJson(`${url}/diff`))) || {}
  place.append(
    make("h2", { id: "frame.versions" }, "Versions"),
    table(
      ["Version", "Published", "Against the one before", "Changes", "Message"],
      versions.map(({ version, published_at: at, verdict, changes: count, message, current }) => [
        `${version}${current ? " (current)" : ""}`,
        String(at ?? "").slice(0, 10),
        verdict ?? "",
        String(count ?? ""),
        message ?? "",
      ]),
    ),
    make(
      "ul",
      {},
      ...changes.map(({ text, breaking }) =>
        make("li", {}, ...(breaking ? [make("span", { class: "badge warn" }, "breaking")] : []), text),
      ),
    ),
  )
  document
    .querySelector(".contents ul")
    ?.append(make("li", { class: "level-2" }, make("a", { href: "#frame.versions" }, "Versions")))
}

// A stack's live records, for a visitor with a publishable key

const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value)
const merge = (old, patch, append, path = "") => {
  if (Array.isArray(old) && Array.isArray(patch)) return append.includes(path) ? [...old, ...patch] : patch
  if (!isMap(old) || !isMap(patch)) return patch
  const inside = (key) => (path === "" ? key : `${path}.${key}`)
  const merged = Object.entries(patch).map(([key, value]) => [key, merge(old[key], value, append, inside(key))])
  return { ...old, ...Object.fromEntries(merged) }
}

const leaves = (value, path = "") =>
  isMap(value)
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}.${key}`))
    : [[path, value]]
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
const cell = (value) => short(typeof value === "string" ? value : value == null ? "" : JSON.stringify(value), 20)

const recordTable = (records) => {
  const rows = [...records].map(([key, record]) => [key, new Map(leaves(record))])
  const paths = [...new Set(rows.flatMap(([, row]) => [...row.keys()]))].filter((path) =>
    rows.some(([key, row]) => row.get(path) != null && row.get(path) !== key),
  )
  return table(
    ["Key", ...paths],
    rows.map(([key, row]) => [make("code", {}, cell(key))].concat(paths.map((path) => cell(row.get(path))))),
  )
}

const sortRecords = (records, { field, order }) => {
  const valueOf = ([, record]) => {
    const value = field.reduce((inner, key) => inner?.[key], record)
    return /^-?\d+$/.test(value) ? BigInt(value) : (value ?? "")
  }
  const sign = order === "desc" ? -1 : 1
  const rows = [...records].sort((a, b) => sign * (valueOf(a) < valueOf(b) ? -1 : valueOf(a) > valueOf(b) ? 1 : 0))
  return new Map(rows)
}

/** Shows a view until the connection ends; resolves with why it did. */
const watchView = (url, token, view, place, say) =>
  new Promise((resolve) => {
    let records = new Map()
    let sort
    let timer
    let fault
    let isOpen = false
    const draw = () => {
      timer = undefined
      if (sort) records = sortRecords(records, sort)
      place.replaceChildren(recordTable(records))
      say(records.size === 0 ? "Connected. No records yet." : "Connected.")
    }
    const socket = new WebSocket(url, ["svc.stream.v1", `bearer.${token}`])
    socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "subscribe", view, take: 10 })))
    socket.addEventListener("message", ({ data: text }) => {
      const { op, type, key, data, append = [], ...rest } = JSON.parse(text)
      if (type === "error") fault = rest.message
      if (op === "subscribed") sort = rest.sort
      isOpen = true
      if (op === "snapshot") for (const row of data) records.set(row.key, row.data)
      if (op === "upsert") records.set(key, data)
      if (op === "patch") records.set(key, merge(records.get(key), data, append))
      if (op === "delete") records.delete(key)
      timer ??= setTimeout(draw, 100)
    })
    socket.addEventListener("close", () => {
      clearTimeout(timer)
      resolve({ fault, lost: isOpen })
    })
  })

const addLivePanel = (panel, { api, url, view }) => {
  const input = make("input", {
    type: "password",
    placeholder: "svc_pk_…",
    "aria-label": "Publishable key",
    autocomplete: "off",
    required: "",
  })
  const said = make("p", { class: "muted", role: "status" }, `The key's origin must be ${origin}.`)
  const place = make("div")
  const form = make("form", { class: "search wide" }, input, make("button", {}, "Watch"))
  const say = (text) => (said.textContent = text)
  const follow = async (key) => {
    for (;;) {
      const minted = await fetch(`${api}/ws/sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ websocket_url: url }),
      })
      const answer = await minted.json()
      if (!minted.ok) return say(`${answer.error} ${answer.hint ?? ""}`)
      const { fault, lost } = await watchView(url, answer.token, view, place, say)
      if (!lost) return say("The stream does not answer now.")
      say(fault ?? "Connecting again…")
      await new Promise((resolve) => setTimeout(resolve, 2000))
    }
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const key = input.value.trim()
    input.value = ""
    const isPublishable = key.startsWith("svc_pk_")
    say(isPublishable ? "Connecting…" : "Paste a publishable key, never a secret one.")
    input.disabled = isPublishable
    const end = (error) => {
      if (error) say(`The API at ${api} does not answer now.`)
      input.disabled = false
    }
    if (isPublishable) follow(key).then(() => end(), end)
  })
  panel.append(
    make("h2", {}, "Live"),
    make("p", {}, "With a publishable key this page shows ", make("code", {}, view), ". The key isn't stored."),
    form,
    said,
    place,
  )
}

// Trying a request out: what curl sends in the example, from this page

const addTryPanel = (panel, kind) => {
  const command = panel.parentElement.querySelector("[data-language=sh] code").textContent
  const [url] = /https?:\/\/[^\s'"]+/.exec(command)
  const [, , json] = /--json (['"])([^]*)\1\s*$/.exec(command) ?? []
  const address = make("input", { "aria-label": "URL", value: url, ...(json !== undefined && { readonly: "" }) })
  const body =
    json && make("textarea", { "aria-label": "Body", rows: "4", spellcheck: "false" }, json.replaceAll('\\"', '"'))
  const name = kind === "token" ? "Session token" : "Publishable key"
  const key =
    kind === "open"
      ? undefined
      : make("input", { type: "password", "aria-label": name, placeholder: name, autocomplete: "off" })
  const said = make("p", { class: "muted", role: "status" })
  if (kind === "key") said.textContent = `The key's origin must be ${location.origin}. The key isn't stored.`
  if (kind === "token") said.textContent = "The token isn't stored."
  const shown = make("pre", { tabindex: "0", hidden: "" })
  const { origin } = new URL(url)
  const send = async () => {
    said.textContent = "…"
    const answer = await fetch(address.value, {
      method: body ? "POST" : "GET",
      headers: {
        ...(key && { authorization: `Bearer ${key.value.trim()}` }),
        ...(body && { "content-type": "application/json" }),
      },
      body: body?.value,
    })
    said.textContent = `Status ${answer.status}`
    shown.textContent = await answer.text()
    shown.hidden = shown.textContent === ""
  }
  const isSecret = () => kind === "key" && !key.value.trim().startsWith("svc_pk_")
  const form = make("form", { class: "try" }, address, key, body, make("button", {}, "Send request"))
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (URL.parse(address.value)?.origin !== origin) said.textContent = `The URL must start with ${origin}.`
    else if (isSecret()) said.textContent = "Paste a publishable key, never a secret one."
    else send().catch(() => (said.textContent = `${origin} does not answer now.`))
  })
  panel.append(make("h3", {}, "Try it"), form, said, shown)
}

const tryPlace = document.getElementById("frame.try")
if (tryPlace !== null) addTryPanel(tryPlace, tryPlace.dataset.kind)
const livePlace = document.getElementById("frame.live")
if (livePlace !== null) addLivePanel(livePlace, livePlace.dataset)
const stackPlace = document.getElementById("frame.stack")
// While the API is away the rest of the page is there all the same.
if (stackPlace !== null) showVersions(stackPlace, stackPlace.dataset).catch(() => {})
