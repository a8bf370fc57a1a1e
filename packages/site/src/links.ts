const encodeSlug = (slug: string): string => slug.split("/").map(encodeURIComponent).join("/")

/** Percent-decoding that never throws; undefined where the text is not well-formed. */
export const decodePath = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path).normalize("NFC")
  } catch {
    return undefined
  }
}

/** A page's Markdown, below a whole URL or the root of this server's paths. */
export const pageUrl = (base: string, slug: string, anchor = ""): string =>
  `${base}/${encodeSlug(slug)}.md${anchor === "" ? "" : `#${encodeURIComponent(anchor)}`}`

/** The same page for people. */
export const pageLink = (base: string, slug: string, anchor = ""): string =>
  `${base}/${encodeSlug(slug)}.html${anchor === "" ? "" : `#${encodeURIComponent(anchor)}`}`

type Source = { readonly file: string }

const elsewhere = new Set(["http:", "https:", "mailto:"])
const withinFolder = "http://pages.invalid"

// Where other documentation tools keep the files that a page names from the root.
const publicFolders = ["", "public/", "static/"]

/** The path of a base URL, which stands before every link: empty, or with a slash in front and none at the end. */
export const rootOf = (baseUrl: string): string => (URL.parse(baseUrl)?.pathname ?? "").replace(/\/$/, "")

type Folder = {
  readonly findPage: (path: string) => { readonly slug: string } | undefined
  readonly hasImage: (path: string) => boolean
}

export type Links = ReturnType<typeof createLinks>

/** Finds what the links of a folder's pages lead to. Both functions of `folder` take paths in it. */
export const createLinks = ({ findPage, hasImage }: Folder, baseUrl: string) => {
  const root = rootOf(baseUrl)
  /** The path in the folder that is meant, as sent, and what follows it; undefined where it leads elsewhere. */
  const within = (url: URL): string | undefined => {
    if (url.origin === withinFolder) return url.pathname
    return url.href === baseUrl || url.href.startsWith(`${baseUrl}/`) ? url.pathname.slice(root.length) : undefined
  }
  const read = (href: string, page: Source): URL | null => URL.parse(href, `${withinFolder}/${encodeSlug(page.file)}`)
  const decoded = (sent: string): string => (decodePath(sent) ?? sent).slice(1)
  return {
    /**
     * Where a link of a page leads a person: pages to pages, whether their author wrote a relative path, one from the root or a
     * whole URL; undefined for schemes that a page has no use for (`javascript:`).
     */
    link: (href: string, page: Source): string | undefined => {
      if (href.startsWith("#")) return href
      const url = read(href, page)
      if (url === null || !elsewhere.has(url.protocol)) return undefined
      const sent = within(url)
      if (sent === undefined) return href
      const path = decoded(sent).replace(/\.html$/, "")
      if (path === "") return `${root}/${url.hash}`
      // A folder that was made to stand below another path says so in its links: /docs/guide is guide here.
      const found = findPage(path) ?? findPage(path.slice(path.indexOf("/") + 1))
      return found === undefined
        ? `${root}/${sent.slice(1)}${url.search}${url.hash}`
        : pageLink(root, found.slug) + url.hash
    },
    /** Where a picture of the folder is served; undefined for what is none. */
    image: (source: string, page: Source): string | undefined => {
      const url = read(source, page)
      const sent = url === null ? undefined : within(url)
      if (sent === undefined) return undefined
      const found = publicFolders.find((folder) => hasImage(folder + decoded(sent)))
      return found === undefined ? undefined : `${root}/${found}${sent.slice(1)}`
    },
  }
}
