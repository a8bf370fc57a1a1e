import type { ApiError } from "@svc/errors"
import { html } from "hono/html"
import { type Html, type Look, frame } from "./frame.ts"

export const errorView = (look: Look, { status, code, message, hint = "" }: ApiError): Html =>
  frame(look, {
    title: message,
    main: html`<p class="muted">${status} <code>${code}</code></p>
      <h1>${status === 404 ? "There is no such page" : message}</h1>
      <p>${hint}</p>
      <p><a href="${look.root}/">All pages</a> · <a href="${look.root}/search">Search</a></p>`,
  })
