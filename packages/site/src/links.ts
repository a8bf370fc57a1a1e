const encodeSlug = (slug: string): string => slug.split("/").map(encodeURIComponent).join("/")

/** Percent-decoding that never throws; undefined where the text is not well-formed. */
export const decodePath = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path).normalize("NFC")
  } catch {
    return undefined
  }
}

const addressAs =
  (ending: string) =>
  (base: string, slug: string, anchor = ""): string =>
    `${base}/${encodeSlug(slug)}.${ending}${anchor === "" ? "" : `#${encodeURIComponent(anchor)}`}`

/** A page's Markdown, below a whole URL or the root of this server's paths. */
export const pageUrl = addressAs("md")
/** The same page for people. */
export const pageLink = addressAs("html")

export type Source = { readonly file: string; readonly slug: string }

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
  const pageAt = (sent: string) => {
    const path = decoded(sent).replace(/\.html$/, "")
    // A folder that was made to stand below another path says so in its links: /docs/guide is guide here.
    return findPage(path) ?? findPage(path.slice(path.indexOf("/") + 1))
  }
  const imageAt = (sent: string): string | undefined => {
    const found = publicFolders.find((folder) => hasImage(folder + decoded(sent)))
    return found === undefined ? undefined : `/${found}${sent.slice(1)}`
  }
  return {
    /** Where a relative link or picture of a page leads an agent, as a whole URL; undefined for what isn't relative. */
    absolute: (href: string, page: Source): string | undefined => {
      const url = /^[a-z][\w+.-]*:/i.test(href) ? null : read(href, page)
      if (url === null || url.origin !== withinFolder) return undefined
      const { pathname, search, hash } = url
      if (href.startsWith("#")) return pageUrl(baseUrl, page.slug) + hash
      if (pathname === "/") return `${baseUrl}/${search}${hash}`
      const found = pageAt(pathname)
      if (found !== undefined) return pageUrl(baseUrl, found.slug) + search + hash
      return baseUrl + (imageAt(pathname) ?? pathname) + search + hash
    },
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
      if (sent === "/" || sent === "") return `${root}/${url.hash}`
      const found = pageAt(sent)
      if (found === undefined) return `${root}/${sent.slice(1)}${url.search}${url.hash}`
      return found.slug === page.slug && url.hash !== "" ? url.hash : pageLink(root, found.slug) + url.hash
    },
    /** Where a picture of the folder is served; undefined for what is none. */
    image: (source: string, page: Source): string | undefined => {
      const url = read(source, page)
      const sent = url === null ? undefined : within(url)
      if (sent === undefined) return undefined
      const found = imageAt(sent)
      return found === undefined ? undefined : root + found
    },
  }
}
