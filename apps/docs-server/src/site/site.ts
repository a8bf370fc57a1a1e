import { createHash } from "node:crypto"
import clientVectors from "../../content/client/test-vectors.json" with { type: "json" }
import { type Corpus, hashOf, isOwnPath, type Page, readPage } from "../corpus/corpus.ts"
import { type About, createDescriptor, createServerCard } from "../mcp/descriptor.ts"
import { type Document, createDocument, jsonType, markdownType } from "./documents.ts"
import { createHtmlDocuments, type HtmlOptions, isStackPage } from "./html-documents.ts"
import { createSearch } from "../search/search.ts"
import { lineStarts, pageUrl, rootOf } from "@svc/site"
import { findPage } from "../corpus/slug.ts"
import type { Product } from "@svc/mcp"
import { type Library, tools, toolsFor } from "../mcp/tools.ts"

export type Site = ReturnType<typeof createSite>

const byFolder = (corpus: Corpus): Map<string, Page[]> => {
  const pages = [...corpus.pages.values()]
  const folderOf = (page: Page): string => (page.slug.includes("/") ? (page.slug.split("/")[0] ?? "") : "")
  return Map.groupBy(
    pages.sort(
      (a, b) =>
        Number(folderOf(a) !== "") - Number(folderOf(b) !== "") ||
        Number(b.slug === "index") - Number(a.slug === "index"),
    ),
    folderOf,
  )
}

const longestOpening = 3000

/** What a page says before its first section, without its title: what it is, where to begin. Empty when that is long. */
const openingOf = ({ markdown, bodyStart }: Page): string => {
  const [opening = ""] = markdown.slice(bodyStart).split(/^## /m)
  const text = opening.replace(/^\s*# .*\n/, "").trim()
  return text.length <= longestOpening ? text : ""
}

// Each service's reference is one line of the map: its overview lists the operations.
const isListed = ({ slug, file }: Page): boolean =>
  !slug.startsWith("stacks/") && (!slug.startsWith("reference/") || file.endsWith("/index.md"))

const pageMap = (corpus: Corpus, baseUrl: string): string => {
  const index = corpus.pages.get("index")
  const opening = index === undefined ? "" : openingOf(index)
  const lines = [`# ${index?.title ?? "Documentation"}`, ""]
  if (index !== undefined && index.description !== "") lines.push(`> ${index.description}`, "")
  if (opening !== "") lines.push(opening, "")
  lines.push(
    `Every page is Markdown. The MCP endpoint ${baseUrl}/mcp has the tools ${tools.map(({ name }) => name).join(" and ")}; ${baseUrl}/llms-full.txt`,
    "is all pages in one.",
  )
  for (const [folder, pages] of byFolder(corpus)) {
    const listed = pages.filter(isListed)
    if (listed.length > 0) lines.push("", `## ${folder === "" ? "Pages" : folder}`, "")
    for (const { slug, title, description } of listed)
      lines.push(`- [${title}](${pageUrl(baseUrl, slug)})${description === "" ? "" : `: ${description}`}`)
  }
  if (corpus.skills.size > 0) {
    lines.push("", "## Skills", "")
    for (const { name, description } of corpus.skills.values())
      lines.push(`- [${name}](${baseUrl}/skills/${name}/SKILL.md): ${description}`)
  }
  return `${lines.join("\n")}\n`
}

const allPages = (corpus: Corpus, baseUrl: string): string =>
  [...byFolder(corpus).values()]
    .flat()
    .filter(({ slug }) => !isStackPage(slug))
    .map((page) => `<!-- ${pageUrl(baseUrl, page.slug)} -->\n\n${page.markdown.slice(page.bodyStart).trim()}\n`)
    .join("\n---\n\n")

const skillIndex = (corpus: Corpus, baseUrl: string) => ({
  $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
  skills: [...corpus.skills.values()].map(({ name, description, text }) => ({
    name,
    type: "skill-md",
    description,
    url: `${baseUrl}/skills/${name}/SKILL.md`,
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
  })),
})

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** @param title the site's name; unless given, that of its first page */
const productOf = ({ pages }: Corpus, own: boolean, title: string | undefined): Product => {
  const first = pages.get("index")
  const named = first === undefined || first.title === "index" ? "Documentation" : first.title
  return {
    name: title ?? (own ? "svc" : named),
    about: first?.description.slice(0, 160) ?? "",
  }
}

/** Where a text may be cut: before lines, and in JSON, which may be one line, also between members. */
const cutsIn = (path: string, text: string): readonly number[] =>
  path.endsWith(".json") ? [0, ...text.matchAll(/[}\]],/g).map(({ index }) => index + 2)] : lineStarts(text)

/** A text that isn't one of the pages, to be read like one. */
const textPage = (path: string, text: string): Page =>
  path.endsWith(".md")
    ? readPage(text, path, path)
    : { ...readPage("", path, path), markdown: text, cuts: cutsIn(path, text), hash: hashOf(text) }

/** Makes all that is served from one reading of the pages: replaced as a whole when they change. */
export const createSite = (
  corpus: Corpus,
  served: Omit<About, "product" | "tools"> & { readonly openApi: () => unknown },
  options: HtmlOptions & { readonly title?: string | undefined },
) => {
  const { baseUrl, openApi } = served
  const root = rootOf(baseUrl)
  const links = { Link: `<${root}/llms.txt>; rel="describedby", <${root}/openapi.json>; rel="service-desc"` }
  const product = productOf(corpus, options.own, options.title)
  const about = { ...served, product, tools: toolsFor(product) }
  const map = pageMap(corpus, baseUrl)
  const descriptor = createDocument(jsonType, JSON.stringify(createDescriptor(corpus, about)))
  const makers = new Map<string, () => Document>([
    ["/", () => createDocument(markdownType, map, links)],
    ["/llms.txt", () => createDocument("text/plain; charset=utf-8", map, links)],
    ["/llms-full.txt", () => createDocument("text/plain; charset=utf-8", allPages(corpus, baseUrl), links)],
    ["/openapi.json", () => createDocument(jsonType, JSON.stringify(openApi()))],
    ["/client/test-vectors.json", () => createDocument(jsonType, json(clientVectors))],
    ["/mcp", () => descriptor],
    ["/.well-known/mcp.json", () => descriptor],
    ["/.well-known/mcp/server-card.json", () => createDocument(jsonType, json(createServerCard(corpus, about)))],
  ])
  for (const { name, text } of corpus.skills.values())
    makers.set(`/skills/${name}/SKILL.md`, () => createDocument(markdownType, text, links))
  if (corpus.skills.size > 0)
    makers.set("/.well-known/agent-skills/index.json", () =>
      createDocument(jsonType, json(skillIndex(corpus, baseUrl))),
    )

  // Made when first asked for: nobody reads all pages of a large folder.
  const made = new Map<unknown, Document>()
  const once = (key: unknown, make: () => Document): Document => made.getOrInsertComputed(key, make)
  const findText = (path: string): Page | undefined => {
    const found = [path, `${path}.md`, `${path}/SKILL.md`].find((one) => makers.has(`/${one}`))
    const maker = makers.get(`/${found}`)
    return found === undefined || maker === undefined ? undefined : textPage(found, once(`/${found}`, maker).text)
  }
  const library: Library = { corpus, search: createSearch(corpus), baseUrl, product, tools: about.tools, findText }
  const html = createHtmlDocuments(library, options)
  return {
    library,
    html,
    descriptor,
    /** The document at a decoded path, `/` in front; undefined when there is none. @param prefersHtml whether HTML is preferred */
    find: (path: string, prefersHtml: boolean): Document | Promise<Document> | undefined => {
      const shown = html.find(path, prefersHtml)
      if (shown !== undefined) return shown
      const maker = makers.get(path)
      if (maker !== undefined) return once(path, maker)
      const slug = path.slice(1)
      const page = findPage(corpus, slug)
      if (page === undefined || (isOwnPath(page.slug) && !/\.mdx?$/.test(slug))) return undefined
      return once(page, () => createDocument(markdownType, page.markdown, links))
    },
  }
}
