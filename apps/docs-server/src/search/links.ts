import { decodePath } from "@svc/site"

// Markdown's own (with Hugo's shortcodes), attributes of HTML and of components, and fields of lists of cards.
const linkPattern =
  /\]\((?:\{\{[<%]\s*(?:rel)?ref\s+)?"?([^)\s"]+)|\b(?:href|to|link|url)\s*[=:]\s*\{?["'`]([^"'`]+)["'`]/g

// Most passages have no link, and this pattern says so at once.
const mayLink = /\]\(|[=:]\s*\{?["'`]/

const longestPath = 300
// More links than this on one page aren't followed: resolving a path takes longer than reading it.
const mostOnPage = 1000

/** Finds the pages that a text links to. A site may serve its pages below any path, so the end of a path is enough. */
export const createLinkFinder = (slugs: readonly string[]) => {
  /** The page whose slug ends with these parts; -1 if several do. */
  const byEnd = new Map<string, number>()
  for (const [page, slug] of slugs.entries()) {
    const parts = slug.split("/")
    for (let i = 1; i < parts.length; i++) {
      const end = parts.slice(i).join("/")
      byEnd.set(end, byEnd.has(end) ? -1 : page)
    }
  }
  for (const [page, slug] of slugs.entries()) byEnd.set(slug, page)

  const findPage = (href: string, slug: string): number | undefined => {
    const path = href.replace(/[?#].*$/, "").replace(/\.(?:mdx?|html)$/, "")
    if (path === "" || path.length > longestPath || /^[a-z]+:/i.test(path)) return undefined
    // Some sites resolve a relative link against the page's folder, some against the page.
    for (const base of [`file:///${slug}`, `file:///${slug}/`]) {
      const pathname = decodePath(URL.parse(path, base)?.pathname ?? "") ?? ""
      const parts = pathname.split("/").filter((part) => part !== "" && part !== "index")
      for (let i = 0; i < parts.length; i++) {
        const page = byEnd.get(parts.slice(i).join("/"))
        if (page !== undefined && page !== -1) return page
      }
    }
    return undefined
  }

  /** Reads the texts of the page with this slug: gives the pages that each links to. */
  return (slug: string) => {
    let left = mostOnPage
    return (text: string): ReadonlySet<number> => {
      const found = new Set<number>()
      for (const [, markdown = "", other = markdown] of text.matchAll(linkPattern)) {
        if (left-- <= 0) break
        const page = findPage(other, slug)
        if (page !== undefined) found.add(page)
      }
      return found
    }
  }
}

/** Splits a passage with several elements or objects, such as cards, into these. Undefined if it has no link. */
export const partsWithLinks = (text: string): readonly string[] | undefined =>
  mayLink.test(text) ? text.split(/(?<=\n)(?=[ \t]*[{<])/) : undefined
