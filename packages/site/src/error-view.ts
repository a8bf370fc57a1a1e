import { html } from "hono/html"
import { type Html, type Look, frame } from "./frame.ts"
import { pageLink } from "./links.ts"

type Failure = {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}

/** @param near the pages that a reader of a missing page may have meant */
export const errorView = (
  look: Look,
  { status, code, message, hint = "" }: Failure,
  near: readonly { readonly slug: string; readonly title: string }[],
): Html =>
  frame(look, {
    title: status === 404 ? "Page not found" : message,
    main: html`<p class="muted">${status} <code>${code}</code></p>
      <h1>${status === 404 ? "Page not found" : message}</h1>
      ${status === 404 ? "" : html`<p>${hint}</p>`}
      ${
        near.length === 0
          ? ""
          : html`<p>Pages with similar names:</p>
            <ul class="pages">
              ${near.map(({ slug, title }) => html`<li><a href="${pageLink(look.root, slug)}">${title}</a></li> `)}
            </ul>`
      }
      <p><a href="${look.root}/search">Search</a>, or go to <a href="${look.root}/">the start page</a>.</p>`,
  })
