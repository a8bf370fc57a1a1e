import { firstView } from "@svc/common/stack-views"
import { html, raw } from "hono/html"
import { type Html, type Look, frame } from "./frame.ts"
import type { SitePage } from "./markdown.ts"
import { pageView } from "./views.ts"
import type { Stack, StackEntity } from "./stack-markdown.ts"

const row = 34
const first = 44
/** Where each column starts, and how wide it is. */
const columns = { key: [4, 220], entity: [304, 180], view: [576, 220] } as const
type Column = keyof typeof columns
const heads: Readonly<Record<Column, string>> = { key: "Primary keys", entity: "Entities", view: "Views" }

const short = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const box = (column: Column, y: number, text: string): Html => {
  const [x, width] = columns[column]
  return html`<rect class="${column}" x="${x}" y="${y - 13}" width="${width}" height="26" rx="6" /><text x="${x + 10}" y="${y + 4}">${short(text, Math.floor(width / 8))}<title>${text}</title></text>`
}

const line = (from: Column, y1: number, to: Column, y2: number): Html => {
  const x1 = columns[from][0] + columns[from][1]
  const x2 = columns[to][0]
  const middle = (x1 + x2) / 2
  return html`<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}" />`
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** Keys to the left, entities in the middle, views to the right: a key that two entities share joins them. */
const stackDrawing = (entities: readonly StackEntity[]): Html => {
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

type Place = { readonly apiUrl: string; readonly streamUrl: string; readonly note: string | undefined }

const noteOf = (note: string | undefined): Html | "" =>
  note === undefined ? "" : html`<p class="note care" role="status">${note}</p>`

/** Where the script shows live records: of the first view that isn't simply all records, where the page's policy allows it. */
const livePlace = ({ apiUrl, streamUrl }: Place, { websocket_url: url, schema }: Stack): Html | "" => {
  if (typeof url !== "string" || URL.parse(url)?.origin !== new URL(streamUrl).origin) return ""
  return html`<div id="frame.live" data-api="${apiUrl}" data-url="${url}" data-view="${firstView(schema.entities)}"></div>`
}

/**
 * The list of stacks, or one stack with a drawing of its entities. The script adds live records and the versions.
 * @param text the page's Markdown as HTML
 * @param note says that the registry could not be read lately
 */
export const stacksView = (
  look: Look,
  place: Place,
  page: SitePage,
  text: string,
  stack: Stack | undefined,
): Html | Promise<Html> => {
  const { apiUrl, note } = place
  if (stack === undefined) return pageView(look, page, html`${noteOf(note)}${raw(text)}`)
  const middle = Math.max(0, text.indexOf("<h2"))
  return pageView(
    look,
    page,
    html`${noteOf(note)}${raw(text.slice(0, middle))}${stackDrawing(stack.schema.entities)}${livePlace(place, stack)}${raw(text.slice(middle))}
      <div id="frame.stack" data-api="${apiUrl}" data-stack="${stack.name}"></div>`,
    { name: "Stacks", href: `${look.root}/stacks` },
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
