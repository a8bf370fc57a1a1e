import { oneLine } from "@svc/common/foreign-text"
import { html, raw } from "hono/html"
import { type Html, type Look, frame } from "./frame.ts"
import type { SitePage } from "./markdown.ts"
import { pageLink } from "./links.ts"
import { pageView } from "./views.ts"
import type { Stack, StackEntity } from "./stack-markdown.ts"

const row = 34
const first = 44
/** Where each column starts, and how wide it is. */
const columns = { key: [4, 220], entity: [304, 180], view: [576, 220] } as const
type Column = keyof typeof columns
const heads: Readonly<Record<Column, string>> = { key: "Primary keys", entity: "Entities", view: "Views" }

const short = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const box = (column: Column, y: number, given: string): Html => {
  const [x, width] = columns[column]
  const text = oneLine(given)
  return html`<rect class="${column}" x="${x}" y="${y - 13}" width="${width}" height="26" rx="6" /><text x="${x + 10}" y="${y + 4}">${short(text, Math.floor(width / 8))}<title>${text}</title></text>`
}

const line = (from: Column, y1: number, to: Column, y2: number): Html => {
  const x1 = columns[from][0] + columns[from][1]
  const x2 = columns[to][0]
  const middle = (x1 + x2) / 2
  return html`<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}" />`
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

// Nobody could find anything among more, and drawing thousands would hold up other requests.
const mostBoxes = 300

/** Keys to the left, entities in the middle, views to the right: a key that two entities share joins them. */
const stackDrawing = (entities: readonly StackEntity[]): Html | "" => {
  const count = entities.reduce((sum, { primary_keys: own, views }) => sum + 1 + own.length + views.length, 0)
  if (count > mostBoxes) return ""
  const lines: Html[] = []
  const boxes: Html[] = []
  let top = first
  const keys = new Map<string, number[]>()
  for (const { name, primary_keys: own, views } of entities) {
    const rows = Math.max(views.length, own.length, 1)
    const middle = top + ((rows - 1) * row) / 2
    boxes.push(box("entity", middle, name))
    for (const [index, view] of views.entries()) {
      const y = middle + (index - (views.length - 1) / 2) * row
      boxes.push(box("view", y, `${view.id.split("/").at(-1)} (${view.mode})`))
      lines.push(line("entity", middle, "view", y))
    }
    for (const key of own) keys.set(key, [...(keys.get(key) ?? []), middle])
    top += rows * row + 16
  }
  let lowest = -Infinity
  for (const [key, places] of [...keys].sort(([, a], [, b]) => mean(a) - mean(b))) {
    const y = Math.max(mean(places), lowest + row, first)
    lowest = y
    boxes.push(box("key", y, key))
    for (const place of places) lines.push(line("key", y, "entity", place))
  }
  const height = Math.max(top, lowest + row) - 16
  const label = `${entities.length} entities with their keys and views; the tables below say the same.`
  const titles = (["key", "entity", "view"] as const).map(
    (column) => html`<text class="small" x="${columns[column][0]}" y="14">${heads[column]}</text>`,
  )
  return html`<div class="table" tabindex="0">
    <svg class="drawing" viewBox="0 0 800 ${height}" role="img" aria-label="${label}">${lines}${titles}${boxes}</svg>
  </div>`
}

/** Where live data is, and the copy's own key for reading it. */
export type Live = {
  readonly apiUrl: string
  readonly streamUrl: string
  /** A publishable key that every page may use; undefined: readers paste their own. */
  readonly viewerKey?: string | undefined
}

const noteOf = (note: string | undefined): Html | "" =>
  note === undefined ? "" : html`<p class="note care" role="status">${note}</p>`

type LiveView = {
  readonly stack: string
  /** Undefined: the stack's first one, and the reader may choose another. */
  readonly view?: string
  /** The stack's stream as far as it's known here. */
  readonly websocketUrl?: string | null | undefined
}

/** Where the script shows live records, or where else they are: pages only open streams at the copy's own server. */
const livePlace = (
  { baseUrl }: Look,
  { apiUrl, streamUrl, viewerKey }: Live,
  { stack, view, websocketUrl }: LiveView,
): Html => {
  const { origin } = new URL(streamUrl)
  if (typeof websocketUrl === "string" && URL.parse(websocketUrl)?.origin !== origin)
    return html`<p class="muted">The stream of this stack is elsewhere: ${websocketUrl}</p>`
  const small = view === undefined ? "" : html` data-small data-view="${view}"`
  const key = viewerKey === undefined ? "" : html` data-key="${viewerKey}"`
  return html`<div id="frame.live" class="live" data-base="${baseUrl}" data-api="${apiUrl}" data-stream="${origin}" data-stack="${stack}"${small}${key}>
    <p class="muted">With JavaScript, this place shows live records as a table and a chart.</p>
  </div>`
}

/** A stack's page: its live records first, then a drawing of its entities. The script adds the records and the versions. */
const stackView = (look: Look, live: Live, note: Html | "", page: SitePage, text: string, stack: Stack): Html => {
  const facts = Math.max(0, text.indexOf("<ul>"))
  const middle = Math.max(facts, text.indexOf("<h2"))
  return pageView(
    look,
    page,
    html`${note}${raw(text.slice(0, facts))}
      <h2 id="frame.live-title">Live records</h2>
      ${livePlace(look, live, { stack: stack.name, websocketUrl: stack.websocket_url })}
      <h2>What it has</h2>
      ${raw(text.slice(facts, middle))}${stackDrawing(stack.schema.entities)}${raw(text.slice(middle))}
      <div id="frame.stack" data-api="${live.apiUrl}" data-stack="${stack.name}"></div>`,
    { parent: { name: "Stacks", href: `${look.root}/stacks` }, bundle: "live", layout: "wide" },
  )
}

/**
 * The list of stacks, or one stack.
 * @param text the page's Markdown as HTML
 * @param note says that the registry could not be read lately
 */
export const stacksView = (
  look: Look,
  live: Live,
  note: string | undefined,
  page: SitePage,
  text: string,
  stack: Stack | undefined,
): Html => {
  if (stack !== undefined) return stackView(look, live, noteOf(note), page, text, stack)
  const health = `${new URL(live.streamUrl).origin.replace(/^ws/, "http")}/health`
  return pageView(
    look,
    page,
    html`${noteOf(note)}${raw(text)}
      <p id="frame.flow" class="muted" data-health="${health}">
        With JavaScript, the table also shows how many records each stack has now.
      </p>`,
    { layout: "wide" },
  )
}

/** The product's home page: what it is, what to do first, and live records of one view. */
export const homeView = (
  look: Look,
  live: Live,
  { stack, view }: { readonly stack: string; readonly view: string },
  page: SitePage,
  text: string,
): Html => {
  // The title, the first paragraph and the commands behind it; what they answer stands below.
  const middle = text.indexOf("<p>", text.indexOf("<p>") + 1)
  const opening = text.slice(0, middle)
  const [answer = ""] = /<div class="code" data-language="http">[^]*?<\/div>/.exec(opening) ?? []
  return pageView(
    look,
    page,
    html`<div class="hero">
        <div class="opening">${raw(opening.replace(answer, ""))}</div>
        <h2 id="frame.live-title">
          Live: <a href="${pageLink(look.root, `stacks/${stack}`)}">${stack}</a> <span class="muted">${view}</span>
        </h2>
        ${livePlace(look, live, { stack, view })}
      </div>
      ${raw(text.slice(middle).replace("</p>", () => `</p>${answer}`))}`,
    { bundle: "live", layout: "wide", hasContents: false },
  )
}

/** What stands at /stacks and below while the registry has not been read yet. */
export const noStacksView = (look: Look, apiUrl: string, name: string | undefined): Html => {
  const json = `${apiUrl}/api/registry${name === undefined ? "" : `/${encodeURIComponent(name)}`}`
  const title = name ?? "Stacks"
  return frame(look, {
    title,
    main: html`<article>
      <h1>${title}</h1>
      ${noteOf("The platform API isn't answering, so the registry can't be shown. Try again in a few seconds.")}
      <p>The same data as JSON: <a href="${json}">${json}</a></p>
    </article>`,
  })
}
