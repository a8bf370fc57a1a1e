import type { Corpus, Page } from "../corpus.ts"
import { decodePath, findPage } from "../slug.ts"

/** Where the pages are: the base URL, and its path without a slash at the end, which stands before every link. */
export type Place = { readonly baseUrl: string; readonly root: string }

export const placeOf = (baseUrl: string): Place => ({
  baseUrl,
  root: (URL.parse(baseUrl)?.pathname ?? "").replace(/\/$/, ""),
})

const encodeSlug = (slug: string): string => slug.split("/").map(encodeURIComponent).join("/")

/** A page's link for people. */
export const pageLink = (root: string, slug: string, anchor = ""): string =>
  `${root}/${encodeSlug(slug)}.html${anchor === "" ? "" : `#${encodeURIComponent(anchor)}`}`

export const markdownLink = (root: string, slug: string): string => `${root}/${encodeSlug(slug)}.md`

const elsewhere = new Set(["http:", "https:", "mailto:"])
const withinFolder = "http://pages.invalid"

/**
 * Where a link of a page leads a person: pages to pages, whether their author wrote a relative path, one from the root or a
 * whole URL; undefined for schemes that a page has no use for (`javascript:`).
 */
export const createLinkReader =
  (corpus: Corpus, { baseUrl, root }: Place) =>
  (href: string, page: Page): string | undefined => {
    if (href.startsWith("#")) return href
    const url = URL.parse(href, `${withinFolder}/${encodeSlug(page.file)}`)
    if (url === null || !elsewhere.has(url.protocol)) return undefined
    const own = url.href === baseUrl || url.href.startsWith(`${baseUrl}/`)
    if (!own && url.origin !== withinFolder) return href
    const sent = own ? url.pathname.slice(root.length) : url.pathname
    const path = (decodePath(sent) ?? sent).slice(1)
    if (path === "") return `${root}/${url.hash}`
    const found = findPage(corpus, path.replace(/\.html$/, ""))
    return found === undefined
      ? `${root}/${sent.slice(1)}${url.search}${url.hash}`
      : pageLink(root, found.slug) + url.hash
  }

export type LinkReader = ReturnType<typeof createLinkReader>
