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

// Where the reader is

/** Marks the entry of the contents whose section is being read. */
const followReader = () => {
  const links = [...document.querySelectorAll(".contents li a")]
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  const mark = () => {
    const behind = headings.findIndex((heading) => heading !== null && heading.getBoundingClientRect().top > 120)
    const current = (behind === -1 ? links.length : behind) - 1
    for (const [index, link] of links.entries())
      if (index === current) link.setAttribute("aria-current", "true")
      else link.removeAttribute("aria-current")
  }
  if (links.length > 0) document.addEventListener("scroll", mark, { passive: true })
}
followReader()

// In a long section the page's own entry may be far down.
const sidebar = document.querySelector(".sidebar")
const entry = sidebar.querySelector("[aria-current]")
if (entry !== null) sidebar.scrollTop = entry.offsetTop - sidebar.clientHeight / 2

// The registry, read from the API whenever the page is opened

const get = async (url) => {
  const answer = await fetch(url)
  if (!answer.ok) throw Object.assign(new Error(`${answer.status}`), { status: answer.status })
  return answer
}
const getJson = async (url) => (await get(url)).json()
/** What may not be there yet, or not for this stack. */
const getIfThere = (url) => getJson(url).catch(() => undefined)

// Far more than there are stacks: a server that always names a next page is not followed for ever.
const mostPages = 100

const allStacks = async (api) => {
  const stacks = []
  let url = `${api}/api/registry?limit=100`
  for (let page = 0; url !== undefined && page < mostPages; page++) {
    const answer = await get(url)
    stacks.push(...(await answer.json()))
    const next = /<([^>]+)>\s*;\s*rel="?next"?/.exec(answer.headers.get("link") ?? "")?.[1]
    url = next === undefined ? undefined : new URL(next, url).href
    if (url !== undefined && new URL(url).origin !== new URL(api).origin) break
  }
  return stacks
}

const badge = (text, kind = "") => make("span", { class: `badge ${kind}` }, text)
const badgesOf = ({ relay, deprecated, version }) => [
  ...(version === undefined ? [] : [badge(`version ${version}`)]),
  ...(relay ? [badge("relay")] : []),
  ...(deprecated ? [badge("deprecated", "warn")] : []),
]

const code = (text) => {
  const block = make("div", { class: "code" }, make("pre", { tabindex: "0" }, make("code", {}, text)))
  addCopyButton(block)
  return block
}

const table = (heads, rows) =>
  make(
    "div",
    { class: "table", tabindex: "0" },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {}, head)))),
      make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))))),
    ),
  )
const name = (text) => make("code", {}, text)

const drawn = (kind, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", kind)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  if (text !== undefined) element.textContent = text
  return element
}
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

/** Keys to the left, entities in the middle, views to the right: a key that two entities share joins them. */
const drawing = (entities) => {
  const row = 34
  const columns = { key: [4, 220], entity: [304, 180], view: [576, 220] }
  const shapes = []
  const box = (column, y, text) => {
    const [x, width] = columns[column]
    shapes.push(drawn("rect", { class: column, x, y: y - 13, width, height: 26, rx: 6 }))
    const label = drawn("text", { x: x + 10, y: y + 4 }, short(text, Math.floor(width / 8)))
    label.append(drawn("title", {}, text))
    shapes.push(label)
  }
  const line = (from, y1, to, y2) => {
    const x1 = columns[from][0] + columns[from][1]
    const x2 = columns[to][0]
    const middle = (x1 + x2) / 2
    shapes.unshift(drawn("path", { d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` }))
  }
  for (const [column, text] of Object.entries({ key: "Primary keys", entity: "Entities", view: "Views" }))
    shapes.push(drawn("text", { class: "small", x: columns[column][0], y: 14 }, text))
  const first = 44
  let top = first
  const keys = new Map()
  for (const { name: title, primary_keys: own, views } of entities) {
    const rows = Math.max(views.length, own.length, 1)
    const middle = top + ((rows - 1) * row) / 2
    box("entity", middle, title)
    for (const [index, view] of views.entries()) {
      const y = middle + (index - (views.length - 1) / 2) * row
      box("view", y, `${view.id.split("/").at(-1)} (${view.mode})`)
      line("entity", middle, "view", y)
    }
    for (const key of own) keys.set(key, [...(keys.get(key) ?? []), middle])
    top += rows * row + 16
  }
  let lowest = -Infinity
  const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  for (const [key, places] of [...keys].sort(([, a], [, b]) => mean(a) - mean(b))) {
    const y = Math.max(mean(places), lowest + row, first)
    lowest = y
    box("key", y, key)
    for (const place of places) line("key", y, "entity", place)
  }
  const height = Math.max(top, lowest + row) - 16
  const label = `${entities.length} entities with their keys and views; the tables below say the same.`
  const picture = drawn("svg", { class: "drawing", viewBox: `0 0 800 ${height}`, role: "img", "aria-label": label })
  picture.append(...shapes)
  return make("div", { class: "table", tabindex: "0" }, picture)
}

/** `{"Sort": {"key": {"segments": ["a", "b"]}, "order": "desc"}}` as `Sort(key a.b, order desc)`. */
const stepText = (step) => {
  const value = (one) => (one?.segments ? one.segments.join(".") : typeof one === "string" ? one : JSON.stringify(one))
  if (typeof step !== "object" || step === null) return String(step)
  return Object.entries(step)
    .map(([kind, given]) => {
      const parts = Object.entries(given ?? {}).map(([key, one]) => `${key} ${value(one)}`)
      return `${kind}(${typeof given === "object" ? parts.join(", ") : value(given)})`
    })
    .join(" ")
}
const pipelineText = (pipeline) => (pipeline.length === 0 ? "" : name(pipeline.map(stepText).join(", then ")))

const entityParts = ({ name: title, primary_keys: keys, fields, views }) => [
  make("h2", { id: title }, title),
  make(
    "p",
    { class: "muted" },
    keys.length === 1 ? "Primary key: " : "Primary keys: ",
    ...keys.flatMap((key, index) => [index === 0 ? "" : ", ", name(key)]),
    ".",
  ),
  make("h3", {}, "Fields"),
  table(
    ["Field", "Type", "May be null"],
    fields.map(({ path, rust_type: type, nullable }) => [name(path), name(type), nullable ? "yes" : "no"]),
  ),
  make("h3", {}, "Views"),
  dense(
    ["View", "Mode", "Pipeline"],
    views.map(({ id, mode, pipeline }) => [name(id), mode, pipelineText(pipeline)]),
  ),
]

/** Tables without the columns that say nothing in any row. */
const dense = (heads, rows) => {
  const said = heads.map((_, column) => rows.some((row) => row[column] !== ""))
  const kept = (cells) => cells.filter((_, column) => said[column])
  return table(kept(heads), rows.map(kept))
}

const versionParts = (versions, diff) => {
  if (!Array.isArray(versions) || versions.length === 0) return []
  const changes = diff?.changes ?? []
  return [
    make("h2", { id: "versions" }, "Versions"),
    dense(
      ["Version", "Published", "Against the one before", "Changes", "Message"],
      versions.map(({ version, published_at: at, verdict, changes: count, message, current }) => [
        `${version}${current ? " (current)" : ""}`,
        String(at ?? "").slice(0, 10),
        verdict ?? "",
        String(count ?? ""),
        message ?? "",
      ]),
    ),
    ...(changes.length === 0
      ? []
      : [
          make("h3", {}, "What changed last"),
          make(
            "ul",
            {},
            ...changes.map(({ text, breaking }) =>
              make("li", {}, ...(breaking ? [badge("breaking", "warn")] : []), text),
            ),
          ),
        ]),
  ]
}

const stackLink = (stack) => make("a", { href: `${root}/stacks/${encodeURIComponent(stack)}` }, stack)

const deprecation = ({ deprecated }) =>
  deprecated
    ? [
        make(
          "p",
          { class: "note care" },
          make("strong", {}, "Deprecated. "),
          deprecated.message ?? "",
          ...(deprecated.successor ? [" Use ", stackLink(deprecated.successor), "."] : []),
        ),
      ]
    : []

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
const cell = (value) => short(typeof value === "string" ? value : value == null ? "" : JSON.stringify(value), 20)

const recordTable = (records) => {
  const rows = [...records].map(([key, record]) => [key, new Map(leaves(record))])
  const paths = [...new Set(rows.flatMap(([, row]) => [...row.keys()]))].filter((path) =>
    rows.some(([key, row]) => row.get(path) != null && row.get(path) !== key),
  )
  return table(
    ["Key", ...paths],
    rows.map(([key, row]) => [name(cell(key))].concat(paths.map((path) => cell(row.get(path))))),
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

const livePanel = ({ websocket_url: url }, schema, { api, stream }) => {
  // The page's policy allows no other.
  if (!URL.canParse(url ?? "") || new URL(url).origin !== stream) return []
  const views = schema.entities.flatMap(({ name: entity, views: all }) =>
    all.map(({ id }) => id).filter((id) => ![`${entity}/list`, `${entity}/state`].includes(id)),
  )
  const view = views[0] ?? `${schema.entities[0]?.name}/list`
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
  return [
    make("h2", { id: "live" }, "Live"),
    make("p", {}, "With a publishable key this page shows ", name(view), ". The key isn't stored."),
    form,
    said,
    place,
  ]
}

const showStack = async (place, { api, docs, stack, stream }) => {
  const url = `${api}/api/registry/${encodeURIComponent(stack)}`
  const [about, { schema }, versions] = await Promise.all([
    getJson(url),
    getJson(`${url}/schema`),
    getIfThere(`${url}/versions`),
  ])
  const diff = versions?.length > 1 ? await getIfThere(`${url}/diff`) : undefined
  place.replaceChildren(
    make("p", { class: "lead" }, about.description ?? ""),
    make("p", {}, ...badgesOf(about), name(about.websocket_url ?? "no stream")),
    ...deprecation(about),
    make("h2", { id: "shape" }, "How it hangs together"),
    drawing(schema.entities),
    make("h2", { id: "read" }, "Read it"),
    make(
      "div",
      { class: "steps" },
      make("p", {}, "In a shell:"),
      code(`curl ${url}/schema`),
      make("p", {}, "By the command line tool:"),
      code(`npx ${docs}/cli/svc.tgz explore ${stack} --json`),
      make("p", {}, "In TypeScript:"),
      code(`const answer = await fetch("${url}/schema")\nconst { schema } = await answer.json()`),
    ),
    ...livePanel(about, schema, { api, stream }),
    ...schema.entities.flatMap(entityParts),
    ...versionParts(versions, diff),
  )
  const entries = [...place.querySelectorAll("h2")].map((heading) =>
    make("li", {}, make("a", { href: `#${encodeURIComponent(heading.id)}` }, heading.textContent)),
  )
  const contents = document.querySelector(".contents")
  contents.append(make("details", {}, make("summary", {}, "On this page"), make("ul", {}, ...entries)))
  contents.hidden = false
  followReader()
  // The place that was asked for was not there when the browser looked.
  if (location.hash !== "") location.replace(location.hash)
}

const showStacks = async (place, { api }) => {
  const stacks = await allStacks(api)
  place.replaceChildren(
    make("p", { class: "muted" }, stacks.length === 1 ? "1 public stack." : `${stacks.length} public stacks.`),
    make(
      "ul",
      { class: "pages" },
      ...stacks.map((one) =>
        make(
          "li",
          {},
          stackLink(one.name),
          " ",
          ...badgesOf(one),
          make("p", { class: "about" }, one.description ?? ""),
          make("p", { class: "about" }, one.entities.join(", ")),
        ),
      ),
    ),
  )
}

const registry = document.querySelector("#stacks")
if (registry !== null) {
  const { api, stack } = registry.dataset
  const showing = stack ? showStack(registry, registry.dataset) : showStacks(registry, registry.dataset)
  showing.catch((error) =>
    registry.prepend(
      make(
        "p",
        { class: "note care", role: "alert" },
        error.status === 404 ? "There is no public stack of this name." : `The API at ${api} does not answer now.`,
      ),
    ),
  )
}
