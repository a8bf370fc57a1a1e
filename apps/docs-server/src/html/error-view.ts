import type { ApiError } from "@svc/errors"
import { html } from "hono/html"
import type { Page } from "../corpus.ts"
import { type Html, type Look, frame } from "./frame.ts"
import { pageLink } from "./links.ts"

/** @param near the pages that a reader of a page that is not there may have meant */
export const errorView = (look: Look, { status, code, message, hint = "" }: ApiError, near: readonly Page[]): Html =>
  frame(look, {
    title: status === 404 ? "There is no such page" : message,
    main: html`<p class="muted">${status} <code>${code}</code></p>
      <h1>${status === 404 ? "There is no such page" : message}</h1>
      ${status === 404 ? "" : html`<p>${hint}</p>`}
      ${
        near.length === 0
          ? ""
          : html`<p>The nearest by name:</p>
            <ul class="pages">
              ${near.map(({ slug, title }) => html`<li><a href="${pageLink(look.root, slug)}">${title}</a></li> `)}
            </ul>`
      }
      <p>Or <a href="${look.root}/search">search</a>, or begin at <a href="${look.root}/">the start</a>.</p>`,
  })
