import type { ApiError } from "@svc/errors"
import { ToolError } from "@svc/mcp"
import { LRUCache } from "lru-cache"
import {
  type Asset,
  bundles,
  consoleView,
  createLinks,
  createNavigation,
  decodePath,
  errorView,
  hasText,
  homeView,
  type Html,
  indexView,
  type Live,
  loadHighlighter,
  minuteOf,
  type Look,
  pageLink,
  pageUrl,
  pageView,
  renderPage,
  rootOf,
  searchView,
  noStacksView,
  stacksView,
  styles,
} from "@svc/site"
import type { Config } from "../config.ts"
import { isOwnPath, type Page } from "../corpus/corpus.ts"
import { type Document, createDocument, markdownType } from "./documents.ts"
import type { Registry } from "./registry.ts"
import { findPage, nearestSlugs } from "../corpus/slug.ts"
import { findSections } from "../mcp/search-docs.ts"
import type { Library } from "../mcp/tools.ts"

export type HtmlOptions = Live &
  Pick<Config, "relayUrl" | "homeView" | "editUrl"> & {
    readonly version: string
    /** The public stacks; the product's own pages alone have them. */
    readonly registry?: Pick<Registry, "copy" | "note"> | undefined
    readonly own: boolean
  }

const assetDocument = ({ path, type, text }: Asset): readonly [string, Document] => {
  const cached = { "Cache-Control": "public, max-age=31536000, immutable", Vary: "Accept-Encoding" }
  return [path, createDocument(type, text, cached, ["br", "gzip"])]
}
const assets: ReadonlyMap<string, Document> = new Map([styles, ...Object.values(bundles).flat()].map(assetDocument))

// Rendered pages are many times their Markdown; whoever reads all of a large folder must not fill the memory.
const memory = { max: 1000, maxSize: 16 * 2 ** 20 }

// A page that handles secret keys: no other page has a handle on its window, and none learns where its reader came from.
const alone = { "Cross-Origin-Opener-Policy": "same-origin", "Referrer-Policy": "no-referrer" }

const mostCharacters = 500

/** What a search of a reader finds, or why there is none; neither without words. */
const askSearch = (library: Library, query: string, cursor: string | undefined) => {
  if (query === "") return {}
  if (query.length > mostCharacters) return { fault: `A search has at most ${mostCharacters} characters.` }
  try {
    return { found: findSections(library, { query, limit: 10, cursor }) }
  } catch (error) {
    if (error instanceof ToolError) return { fault: `${error.message} ${error.hint}` }
    throw error
  }
}

export const isStackPage = (slug: string): boolean => slug === "stacks" || slug.startsWith("stacks/")

const escapeXml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** Makes what is served to browsers, and to others only by its own name. */
export const createHtmlDocuments = (
  library: Library,
  { apiUrl, relayUrl, streamUrl, viewerKey, homeView: shown, own, registry, version, editUrl }: HtmlOptions,
) => {
  const live: Live = { apiUrl, streamUrl, viewerKey }
  const { corpus, baseUrl } = library
  const root = rootOf(baseUrl)
  const first = corpus.pages.get("index")
  const index = first !== undefined && hasText(first) ? first : undefined
  const look: Look = {
    baseUrl,
    root,
    title: library.product.name,
    navigation: createNavigation(new Map([...corpus.pages].filter(([slug]) => !isStackPage(slug)))),
    own,
    version,
    editUrl,
  }
  const folder = {
    findPage: (path: string) => findPage(corpus, path),
    hasImage: (path: string) => corpus.images.has(path),
  }
  const links = createLinks(folder, baseUrl)
  const policyFor = (...origins: string[]): string =>
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src ${["'self'", new URL(apiUrl).origin, ...origins].join(" ")}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

  const documentOf = async (
    view: Html,
    alternate?: string,
    policy = policyFor(),
    more: Readonly<Record<string, string>> = {},
  ): Promise<Document> =>
    createDocument(
      "text/html; charset=utf-8",
      String(await view),
      {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": policy,
        ...more,
        ...(alternate !== undefined && { Link: `<${alternate}>; rel="alternate"; type="text/markdown"` }),
      },
      ["br", "gzip"],
    )

  const kept = new LRUCache<string, Document, () => Promise<Document>>({
    ...memory,
    sizeCalculation: ({ text }) => text.length,
    fetchMethod: (_key, _stale, { context }) => context(),
    ignoreFetchAbort: true,
  })
  const once = (key: string, make: () => Promise<Document>): Document | Promise<Document> =>
    kept.get(key) ?? kept.forceFetch(key, { context: make })
  const render = async (page: Page) => renderPage(page, links, await loadHighlighter())
  const showText = (page: Page) =>
    once(`page ${page.slug}`, async () =>
      documentOf(
        pageView(look, page, await render(page)),
        pageUrl(root, page.slug),
        own && page.trial !== undefined ? policyFor(new URL(relayUrl).origin) : policyFor(),
      ),
    )
  // Pages with live data open streams, and read which stacks have records.
  const streamOrigin = new URL(streamUrl).origin
  const noMarkup = "; require-trusted-types-for 'script'; trusted-types 'none'"
  const livePolicy = policyFor(streamOrigin, streamOrigin.replace(/^ws/, "http")) + noMarkup
  const showConsole = (page: Page) =>
    once("console", async () => {
      const policy = policyFor(streamOrigin) + noMarkup
      return documentOf(consoleView(look, apiUrl, page, await render(page)), pageUrl(root, page.slug), policy, alone)
    })
  const showPage = (page: Page) => (own && page.slug === "console" ? showConsole(page) : showText(page))
  const showHome = () => {
    if (index === undefined) return once("home", () => documentOf(indexView(look)))
    const copy = registry?.copy()
    const hasStack = own && (copy === undefined || !copy.isWhole || copy.stacks.has(shown.stack))
    if (!hasStack) return showPage(index)
    return once("home", async () =>
      documentOf(homeView(look, live, shown, index, await render(index)), pageUrl(root, index.slug), livePolicy),
    )
  }
  const text = (key: string, type: string, make: () => string) => once(key, async () => createDocument(type, make()))
  const robots = `User-agent: *\nAllow: /\nSitemap: ${baseUrl}/sitemap.xml\n`
  const sitemap = (): string => {
    const urls = [
      `${baseUrl}/`,
      ...(own && !corpus.pages.has("stacks") ? [`${baseUrl}/stacks`] : []),
      ...[...corpus.pages.keys()].map((slug) => pageLink(baseUrl, slug)),
    ]
    return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls
      .map((url) => `<url><loc>${escapeXml(url)}</loc></url>\n`)
      .join("")}</urlset>\n`
  }

  const findStack = (path: string, prefersHtml: boolean) => {
    const [, slug = "", name, ending] = /^\/(stacks(?:\/([\w-]{1,100}))?)(\.\w+)?$/.exec(path) ?? []
    if (registry === undefined || slug === "") return undefined
    const html = ending === undefined ? prefersHtml : ending === ".html"
    const note = registry.note()
    const copy = registry.copy()
    if (copy === undefined) {
      const away = `# ${name ?? "Stacks"}\n\nThe platform API isn't answering. Try again, or read ${apiUrl}/api/registry.\n`
      return html
        ? documentOf(noStacksView(look, apiUrl, name))
        : createDocument(markdownType, away, { "Cache-Control": "no-store" })
    }
    const page = copy.pages.get(slug)
    if (page === undefined) return undefined
    if (!html) {
      const markdown = note === undefined ? page.markdown : `${page.markdown}\n> ${note}\n`
      return createDocument(markdownType, markdown, { "Cache-Control": "public, max-age=10" })
    }
    return once(`${slug} ${note}`, async () => {
      const rendered = await render(page)
      const stack = name === undefined ? undefined : copy.stacks.get(name)
      return documentOf(stacksView(look, live, note, page, rendered, stack), pageUrl(root, slug), livePolicy)
    })
  }

  return {
    /** The document at a decoded path. @param html whether the request prefers HTML */
    find: (path: string, html: boolean): Document | Promise<Document> | undefined => {
      const asset = assets.get(path)
      if (asset !== undefined) return asset
      if (path === "/sitemap.xml") return text(path, "application/xml; charset=utf-8", sitemap)
      if (path === "/robots.txt") return text(path, "text/plain; charset=utf-8", () => robots)
      if (path === "/") return html ? showHome() : undefined
      const stack = findStack(path, html)
      if (stack !== undefined) return stack
      const slug = path.slice(1)
      const named = slug.endsWith(".html") ? findPage(corpus, slug.slice(0, -".html".length)) : undefined
      if (named !== undefined) return showPage(named)
      const page = html && !/\.mdx?$/.test(slug) ? findPage(corpus, slug) : undefined
      return page === undefined || isOwnPath(page.slug) ? undefined : showPage(page)
    },
    search: async (query: string, cursor: string | undefined, html: boolean): Promise<Document> => {
      const { found, fault } = askSearch(library, query, cursor)
      if (html) return documentOf(searchView(look, query.slice(0, mostCharacters), found?.structured, fault))
      const lines = found?.texts.join("\n") ?? fault ?? "Ask with ?q= and a few words."
      return createDocument(markdownType, `# Search\n\n${lines}\n`, { "Cache-Control": "no-cache" })
    },
    missing: (path: string): { readonly message: string } | undefined => {
      const [, name] = /^\/stacks\/([\w-]{1,100})(?:\.\w+)?$/.exec(path) ?? []
      const copy = registry?.copy()
      if (copy === undefined || name === undefined) return undefined
      const change = copy.changes.find(({ stack }) => stack === name)
      if (change?.kind === "withdrawn") return { message: `The stack ${name} was withdrawn at ${minuteOf(change.at)}.` }
      return copy.isWhole
        ? { message: `The registry has no public stack ${name}. It may have been withdrawn or made private.` }
        : {
            message: `This server shows ${copy.stacks.size} of the public stacks, and ${name} isn't one of them. If it is public, ${apiUrl}/api/registry/${name}/schema has it.`,
          }
    },
    /** An error as a page. @param path the requested path, as sent */
    error: (error: ApiError, path: string): Promise<Document> => {
      const wanted = decodePath(path) ?? path
      const near = error.status === 404 ? nearestSlugs(corpus, wanted) : []
      const above = isStackPage(wanted.slice(1)) ? ["stacks"] : []
      const pages = [...new Set([...above, ...near])]
        .map((slug) => corpus.pages.get(slug))
        .filter((page) => page !== undefined)
      return documentOf(errorView(look, error, pages))
    },
  }
}
