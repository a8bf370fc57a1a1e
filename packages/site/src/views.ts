import type { SearchDocsResult } from "@svc/client"
import { html, raw } from "hono/html"
import type { BundleName } from "./assets.ts"
import { type Html, type Look, frame } from "./frame.ts"
import { describe } from "./boxes.ts"
import { pageLink, pageUrl } from "./links.ts"
import type { SitePage } from "./markdown.ts"
import { longestRendered } from "./render-page.ts"

const mostListed = 300

const contentsOf = ({ sections, markdown }: SitePage): Html | "" => {
  // A page that is shown as its Markdown has no anchors.
  if (markdown.length > longestRendered) return ""
  const listed = sections.filter(({ level }) => level === 2 || level === 3).slice(0, mostListed)
  if (listed.length < 2) return ""
  return html`<nav class="contents" aria-label="On this page">
    <details>
      <summary>On this page</summary>
      <ul>
        ${listed.map(({ anchor, heading, level }) => html`<li class="level-${level}"><a href="#${encodeURIComponent(anchor)}">${heading}</a></li> `)}
      </ul>
    </details>
  </nav>`
}

/** An operation's example, with the place where the script lets a reader try it, is set beside the text. */
const withExample = (text: string, { trial }: SitePage): string => {
  const [, before = text, example = "", after = ""] =
    /^([^]*?)(<h2 id="example">[^]*?)((?:<h2 [^]*)?)$/.exec(text) ?? []
  const place = trial === undefined ? "" : `<div id="frame.try" data-kind="${trial}"></div>`
  return `<div>${before}</div><section class="example">${example}${place}</section><div>${after}</div>`
}

type PageOptions = {
  /** A page above this one, for pages outside the navigation. */
  readonly parent?: { readonly name: string; readonly href: string }
  readonly bundle?: BundleName
  /** Its layout: `wide` for tables, `wide app` for the whole width, without the pages beside it. */
  readonly layout?: string
  readonly hasContents?: boolean
}

/** @param text the page's Markdown as HTML */
export const pageView = (
  look: Look,
  page: SitePage,
  text: string | Html,
  { parent, bundle, layout, hasContents = true }: PageOptions = {},
): Html => {
  const { root, navigation } = look
  const { section, previous, next } = navigation.placeOf(page)
  const hasTitle = page.sections[0]?.level === 1
  const isOperation = page.method !== undefined
  return frame(look, {
    title: page.title,
    page,
    file: parent === undefined ? page.file : undefined,
    contents: hasContents && !isOperation ? contentsOf(page) : "",
    bundle,
    layout,
    main: html`<div class="bar">
        <nav class="crumbs" aria-label="Breadcrumb">
          <ol>
            <li><a href="${root}/">${look.title}</a></li>
            ${section === undefined ? "" : html`<li>${section.name}</li>`}
            ${parent === undefined ? "" : html`<li><a href="${parent.href}">${parent.name}</a></li>`}
            <li aria-current="page">${page.title}</li>
          </ol>
        </nav>
        <div class="tools">
          <a href="${pageUrl(root, page.slug)}">As Markdown</a>
        </div>
      </div>
      <article>${hasTitle ? "" : html`<h1>${page.title}</h1>`} ${typeof text === "string" ? raw(isOperation ? withExample(text, page) : text) : text}</article>
      <nav class="turn" aria-label="Previous and next">
        ${previous === undefined ? "" : html`<a rel="prev" href="${pageLink(root, previous.slug)}"><small>Previous</small> ${previous.title}</a>`}
        ${next === undefined ? "" : html`<a rel="next" href="${pageLink(root, next.slug)}"><small>Next</small> ${next.title}</a>`}
      </nav>`,
  })
}

/** The home page of a folder without an index: all its pages, by section. */
export const indexView = (look: Look): Html => {
  const { root, baseUrl, title, navigation } = look
  return frame(look, {
    title,
    canonical: `${baseUrl}/`,
    main: html`<article class="home">
      <h1>${title}</h1>
      <div class="sections">
        ${navigation.sections.map(
          ({ name, pages }) =>
            html`<section>
              <h2>${name}</h2>
              <ul class="pages">
                ${pages.map((page) => html`<li><a href="${pageLink(root, page.slug)}">${page.title}</a>${page.description === "" ? "" : html` <span>${describe(page)}</span>`}</li> `)}
              </ul>
            </section> `,
        )}
      </div>
    </article>`,
  })
}

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
      <p>${status === 404 ? message : hint}</p>
      ${
        near.length === 0
          ? ""
          : html`<p>Pages with similar names:</p>
            <ul class="pages">
              ${near.map(({ slug, title }) => html`<li><a href="${pageLink(look.root, slug)}">${title}</a> <span class="muted">${slug}</span></li> `)}
            </ul>`
      }
      <p><a href="${look.root}/search">Search</a>, or go to <a href="${look.root}/">the start page</a>.</p>`,
  })

const list = (
  look: Look,
  { query, results, total, next_cursor: next, did_you_mean: meant }: SearchDocsResult,
): Html => {
  const { root } = look
  const address = (q: string, cursor?: string) =>
    `${root}/search?${new URLSearchParams(cursor === undefined ? { q } : { q, cursor }).toString()}`
  return html`${meant === undefined ? "" : html`<p>Did you mean <a href="${address(meant)}">${meant}</a>?</p>`}
    <p class="muted">
      ${results.length === 0 ? "Nothing matches." : `${total} ${total === 1 ? "page matches" : "pages match"}.`}
    </p>
    <ol class="results">
      ${results.map(
        ({ slug, title, section, anchor, snippet }) =>
          html`<li><a href="${pageLink(root, slug, anchor)}">${title}${section === title ? "" : html` <span>› ${section}</span>`}</a>
            <p>${marked(snippet, query)}</p>
          </li> `,
      )}
    </ol>
    ${results.length === 0 ? html`<p>Try fewer or other words, or read <a href="${root}/">all there is</a>.</p>` : ""}
    ${next === undefined ? "" : html`<p><a rel="next" href="${address(query, next)}">Further results</a></p>`}`
}

/** The words that were looked for stand out where the page has them as they were written. */
const marked = (text: string, query: string): Html => {
  const words = query.match(/[\p{L}\p{N}_]{2,}/gu) ?? []
  if (words.length === 0) return html`${text}`
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${words.join("|")})`, "giu"))
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<mark>${part}</mark>` : part))}`
}

/** The page of results; `found` is undefined where nothing was asked for, `refusal` says why nothing can be found. */
export const searchView = (look: Look, query: string, found?: SearchDocsResult, refusal?: string): Html =>
  frame(look, {
    title: query === "" ? "Search" : `${query.slice(0, 60)} · Search`,
    query,
    main: html`<h1>Search</h1>
      <form class="search wide" role="search" aria-label="Search the pages" action="${look.root}/search">
        <input type="search" name="q" aria-label="Words to look for" maxlength="500" value="${query}" /><button>
          Search
        </button>
      </form>
      ${refusal === undefined ? "" : html`<p>${refusal}</p>`} ${found === undefined ? "" : list(look, found)}`,
  })
