import { firstView } from "@svc/common/stack-views"
import { html, raw } from "hono/html"
import { type Html, type Look, frame } from "./frame.ts"
import type { SitePage } from "./page.ts"
import { pageView } from "./page-view.ts"
import { stackDrawing } from "./stack-drawing.ts"
import type { Stack } from "./stack-markdown.ts"

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
