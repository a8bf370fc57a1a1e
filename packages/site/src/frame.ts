import { html, raw } from "hono/html"
import { type BundleName, bundles, styles } from "./assets.ts"
import { describe } from "./boxes.ts"
import { pageLink, pageUrl } from "./links.ts"
import type { SitePage } from "./markdown.ts"
import type { Navigation, NavigationSection } from "./navigation.ts"

/** Escaped HTML; a promise only where a part of it was one. */
export type Html = ReturnType<typeof html>

/** What all pages of a site share. */
export type Look = {
  readonly title: string
  readonly root: string
  readonly baseUrl: string
  readonly navigation: Navigation
  /** Whether these are the product's own pages: they alone have a registry and a reference. */
  readonly own: boolean
  readonly version: string
  /** Where a page's file can be edited, by its path behind this URL. */
  readonly editUrl?: string | undefined
}

type Framed = {
  readonly title: string
  readonly main: Html
  readonly page?: SitePage
  /** The file that it is made from, where readers may edit it. */
  readonly file?: string | undefined
  /** The one address that search engines should know it by. */
  readonly canonical?: string
  readonly query?: string
  readonly contents?: Html | ""
  readonly bundle?: BundleName | undefined
  /** A class of the page, for its layout. */
  readonly layout?: string | undefined
}

// A navigation of more pages than this has links of its own section alone: every page carries it.
const mostLinks = 300
const window = 100

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b57a4'/%3E%3Cpath d='M4 5h8M4 8h8M4 11h5' stroke='white' stroke-width='1.5'/%3E%3C/svg%3E"

const sectionLinks = (root: string, { pages }: NavigationSection, slug: string | undefined): Html => {
  const at = Math.max(
    0,
    pages.findIndex((page) => page.slug === slug),
  )
  const from = Math.max(0, Math.min(at - window / 2, pages.length - window))
  return html`<ul>
    ${pages.slice(from, from + window).map((page, index, shown) => {
      const { group, method, title } = page
      const heading =
        group !== undefined && group !== shown[index - 1]?.group ? html`<li class="group">${group}</li>` : ""
      const badge = method === undefined ? "" : html`<b class="method">${method}</b> `
      return html`${heading}<li><a href="${pageLink(root, page.slug)}"${page.slug === slug ? raw(' aria-current="page"') : ""}>${badge}${title}</a></li> `
    })}
  </ul>`
}

const navigationList = ({ root, navigation }: Look, page: SitePage | undefined): Html => {
  const total = navigation.sections.reduce((sum, { pages }) => sum + pages.length, 0)
  const section = page && navigation.placeOf(page).section
  return html`${navigation.sections.map((one) => {
    const [first] = one.pages
    const isOpen = one === section
    if (total > mostLinks && !isOpen)
      return html`<p><a href="${pageLink(root, first?.slug ?? "")}">${one.name}</a></p> `
    return html`<details${isOpen ? raw(" open") : ""}><summary>${one.name}</summary>${sectionLinks(root, one, page?.slug)}</details> `
  })}`
}

const hasPage = ({ sections }: Navigation, wanted: string): boolean =>
  sections.some(({ pages }) => pages.some(({ slug }) => slug === wanted))

const topLinks = ({ root, own, navigation }: Look): Html | "" => {
  if (!own) return ""
  const more = [
    ["reference", "Reference"],
    ["console", "Console"],
  ] as const
  const links = more.map(([slug, name]) =>
    hasPage(navigation, slug) ? html` <a href="${pageLink(root, slug)}">${name}</a>` : "",
  )
  return html`<a href="${root}/stacks">Stacks</a>${links}`
}

const footer = ({ root, title, version, navigation, editUrl }: Look, { file }: Framed): Html =>
  html`<footer>
    <span>${title} ${version}</span>
    ${hasPage(navigation, "changelog") ? html`<a href="${pageLink(root, "changelog")}">Changelog</a>` : ""}
    ${editUrl === undefined || file === undefined ? "" : html`<a href="${editUrl}/${file.split("/").map(encodeURIComponent).join("/")}">Edit this page</a>`}
  </footer>`

/** @param isFirst whether the page is shown only once it has run: what it adds then pushes nothing away */
const loaded = (root: string, name: BundleName, isFirst = false): Html =>
  html`${bundles[name].map(({ path }) => (path.endsWith(".css") ? html`<link rel="stylesheet" href="${root}${path}" /> ` : html`<script src="${root}${path}" type="module"${isFirst ? raw(' blocking="render"') : ""}></script> `))}`

export const frame = (look: Look, framed: Framed): Html => {
  const { root, baseUrl, title: site } = look
  const { page, query = "", layout = page?.method && "operation" } = framed
  const links = topLinks(look)
  const title = framed.title === site ? site : `${framed.title} · ${site}`
  const description = page && describe(page)
  const canonical = page === undefined ? framed.canonical : pageLink(baseUrl, page.slug)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${description ? html`<meta name="description" content="${description}" />` : ""}
        ${canonical ? html`<link rel="canonical" href="${canonical}" />` : ""}
        ${page === undefined ? "" : html`<link rel="alternate" type="text/markdown" href="${pageUrl(root, page.slug)}" />`}
        <meta property="og:type" content="website" />
        <meta property="og:site_name" content="${site}" />
        <meta property="og:title" content="${framed.title}" />
        ${description ? html`<meta property="og:description" content="${description}" />` : ""}
        ${canonical ? html`<meta property="og:url" content="${canonical}" />` : ""}
        <link rel="icon" href="${raw(icon)}" />
        <link rel="stylesheet" href="${root}${styles.path}" />
        ${loaded(root, "site", true)} ${framed.bundle === undefined ? "" : loaded(root, framed.bundle)}
      </head>
      <body data-root="${root}"${layout === undefined ? "" : html` class="${layout}"`}>
        <a class="skip" href="#frame.main">Skip to the text</a>
        <header class="top">
          <button class="menu" type="button" popovertarget="frame.menu" aria-label="Menu">
            <span aria-hidden="true">☰</span>
          </button>
          <a class="brand" href="${root}/">${site}</a>
          <form class="search" role="search" action="${root}/search">
            <input
              type="search"
              name="q"
              aria-label="Search"
              placeholder="Search"
              maxlength="500"
              autocomplete="off"
              value="${query}"
            />
          </form>
          ${links === "" ? "" : html`<nav class="links" aria-label="Site">${links}</nav>`}
        </header>
        <div class="columns">
          <nav id="frame.menu" class="sidebar" aria-label="Pages" popover>${links === "" ? "" : html`<div class="links">${links}</div> `}${navigationList(look, page)}</nav>
          <main id="frame.main">${framed.main} ${footer(look, framed)}</main>
          ${framed.contents ?? ""}
        </div>
      </body>
    </html> `
}
