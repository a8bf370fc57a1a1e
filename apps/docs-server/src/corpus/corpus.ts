import { SetupError } from "@svc/config"
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { parse as parseYaml } from "yaml"
import { z } from "zod"
import {
  blocksOf,
  countTokens,
  createLinks,
  type Links,
  outline,
  plainText,
  type Row,
  type Section,
  type SitePage,
  trials,
  withAbsoluteLinks,
} from "@svc/site"
import { isImage, listFiles } from "./files.ts"
import { stripMdx } from "./mdx.ts"
import { findPage } from "./slug.ts"

export type Page = SitePage & {
  /** Whether the author wrote the description; if not, it is the first paragraph. */
  readonly described: boolean
  /** The page's weight in a search, relative to other pages. Default: 1. */
  readonly searchWeight?: number | undefined
  /** Where the page may be cut, ascending; the first is 0. */
  readonly cuts: readonly number[]
  readonly tokens: number
  readonly hash: string
}

type Skill = { readonly name: string; readonly description: string; readonly text: string }

export type Corpus = {
  readonly pages: ReadonlyMap<string, Page>
  readonly skills: ReadonlyMap<string, Skill>
  /** Paths of the folder's images by their paths in it. They are read on request. */
  readonly images: ReadonlyMap<string, string>
  readonly version: string
  readonly warnings: readonly string[]
}

/** Why a folder can't be served: the file's path and the reason. */
export class CorpusError extends SetupError {
  override readonly name = "CorpusError"

  constructor(reason: string, options: ErrorOptions = {}) {
    const next = "Set it to a folder with readable Markdown files, or correct the page."
    super(reason, "SVC_DOCS_DIR", next, options.cause)
  }
}

const frontMatterSchema = z.record(z.string(), z.unknown())

/** First path parts that belong to the server; a page there is served with `.md` alone. */
const ownPaths = new Set(
  (
    "mcp livez readyz health openapi.json cli skills .well-known llms.txt llms-full.txt search stacks assets " +
    "favicon.ico sitemap.xml robots.txt"
  ).split(" "),
)

/** Folders of the server's own whose bare name may be a page: /client is one, /client/svc-client.tgz a file. */
const ownFolders = ["client/"]

export const isOwnPath = (slug: string): boolean =>
  ownPaths.has(slug.split("/")[0] ?? "") || ownFolders.some((folder) => slug.startsWith(folder))

export const hashOf = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex").slice(0, 32)

const trialSchema = z.enum(trials)

type FrontMatter = { readonly data: z.infer<typeof frontMatterSchema>; readonly end: number }

/** Largest sizes. Front matter is limited because the YAML parser compares each key with all keys before it. */
export const fileBounds = { bytes: 4 * 2 ** 20, frontMatter: 16_384 } as const

const readFrontMatter = (text: string): FrontMatter => {
  const none = { data: {}, end: text.startsWith("\uFEFF") ? 1 : 0 }
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?<=\n)---[ \t]*(?:\r?\n|$)/.exec(text)
  if (match === null) return none
  if (match[0].length > fileBounds.frontMatter)
    throw new Error(`its front matter has more than ${fileBounds.frontMatter} characters`)
  // Two horizontal rules with a paragraph between them aren't front matter, which is a map. Errors count the file's lines.
  const { success, data } = frontMatterSchema.safeParse(parseYaml(`\n${match[1]}`) ?? {})
  return success ? { data, end: match[0].length } : none
}

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? plainText(String(value)) || String(value).trim() : ""

export type LoadOptions = {
  /** Values for placeholders such as `{base_url}` in the product's own pages. */
  readonly fill?: Readonly<Record<string, string>>
  /** Where the pages are served: their relative links become whole URLs. */
  readonly baseUrl?: string
}

// The file may have become a pipe since it was listed, and opening a pipe without a writer would block forever.
const withoutWaiting = constants.O_RDONLY | constants.O_NONBLOCK

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === "number" || (typeof value === "string" && value.trim() !== "") ? Number(value) : NaN
  return Number.isFinite(number) ? number : undefined
}

const rowPrefixes = z.record(z.string(), z.string())
const namedRow = /^\|[ \t]*`([^`\n]+)`[ \t]*\|.*$/gm

/**
 * The table rows of a page that have anchors: `<prefix>-<name>`, for the first row with that name.
 * @param value `{<section>: <prefix>}`, the front matter's `row_anchors`
 */
const rowsOf = (markdown: string, sections: readonly Section[], value: unknown): Row[] => {
  const rows = new Map<string, Row>()
  for (const [section, prefix] of Object.entries(rowPrefixes.safeParse(value).data ?? {})) {
    const found = sections.find(({ anchor }) => anchor === section)
    if (found === undefined) continue
    for (const match of markdown.slice(found.start, found.end).matchAll(namedRow)) {
      const anchor = `${prefix}-${match[1]}`
      const start = found.start + match.index
      const end = start + match[0].length
      if (!rows.has(anchor))
        rows.set(anchor, { anchor, heading: match[1] ?? "", start, end, tokens: countTokens(end - start) })
    }
  }
  return [...rows.values()]
}

/**
 * Parses a file as a page.
 * @param file its path, which decides between MDX and Markdown
 * @param links where relative links lead; without it they stay
 */
export const readPage = (source: string, file: string, slug: string, links?: Links): Page => {
  const { data, end } = readFrontMatter(source)
  const written = file.endsWith(".mdx") ? source.slice(0, end) + stripMdx(source.slice(end)) : source
  const blocks = blocksOf(written, end)
  const markdown =
    links === undefined ? written : withAbsoluteLinks({ markdown: written, bodyStart: end, file, slug }, blocks, links)
  const described = textOf(data["description"])
  const { cuts, sections, lead } = outline(markdown, end, blocks, described === "")
  const title = textOf(data["title"]) || sections[0]?.heading || slug.split("/").at(-1) || slug
  const searchWeight = numberOf(data["search_weight"]) ?? 0
  const method = textOf(data["method"])
  return {
    slug,
    file,
    title,
    description: Array.from(described || lead)
      .slice(0, 300)
      .join(""),
    described: described !== "",
    section: textOf(data["section"]) || undefined,
    order: numberOf(data["order"]),
    group: textOf(data["group"]) || undefined,
    method: /^[A-Z]{3,7}$/.test(method) ? method : undefined,
    trial: trialSchema.safeParse(data["trial"]).data,
    searchWeight: searchWeight > 0 ? searchWeight : undefined,
    markdown,
    bodyStart: end,
    cuts,
    sections,
    rows: rowsOf(markdown, sections, data["row_anchors"]),
    tokens: countTokens(markdown.length),
    hash: hashOf(markdown),
  }
}

const readSkill = (source: string, folder: string): Skill => {
  const { data } = readFrontMatter(source)
  const name = z.string("its front matter must have a name").parse(data["name"])
  const description = z.string("its front matter must have a description").parse(data["description"])
  if (name !== folder) throw new Error(`its name must be its folder's: ${folder}`)
  return { name, description, text: source }
}

const reasonOf = (error: unknown): string => {
  if (error instanceof z.ZodError) return error.issues[0]?.message ?? "invalid front matter"
  return error instanceof Error ? (error.message.split(/:?\n/)[0] ?? "") : String(error)
}

/**
 * Reads a folder of Markdown and MDX into memory: every page by its slug, nothing else can be served.
 * Throws CorpusError, which names the file that can't be read and why.
 */
export const loadCorpus = async (dir: string, options: LoadOptions = {}): Promise<Corpus> => {
  const sources = new Map<string, { readonly source: string; readonly file: string; readonly slug: string }>()
  const skills = new Map<string, Skill>()
  const warnings: string[] = []
  const files = await listFiles(dir).catch((error: unknown) => {
    throw new CorpusError(`${dir}: ${reasonOf(error)}`)
  })
  const names = Object.entries(options.fill ?? {})
  const images = new Map<string, string>()
  const unreadable = (file: string, error: unknown) =>
    new CorpusError(`${join(dir, file)}: ${reasonOf(error)}`, { cause: error })
  for (const file of files) {
    if (isImage(file)) {
      images.set(file.normalize("NFC"), join(dir, file))
      continue
    }
    try {
      const bytes = await readFile(join(dir, file), { flag: withoutWaiting })
      if (bytes.length > fileBounds.bytes) throw new Error(`it is larger than ${fileBounds.bytes / 2 ** 20} MiB`)
      let source = decoder.decode(bytes)
      for (const [name, value] of names) source = source.replaceAll(`{${name}}`, value)
      const skillFolder = /^skills\/([^/]+)\/SKILL\.md$/.exec(file)?.[1]
      if (skillFolder !== undefined) {
        skills.set(skillFolder, readSkill(source, skillFolder))
        continue
      }
      const path = file.replace(/\.mdx?$/, "").normalize("NFC")
      const folder = path.replace(/(?:^|\/)index$/, "")
      const slug = folder === "" ? "index" : sources.has(folder) ? path : folder
      if (sources.has(slug)) throw new Error(`another file has the same slug, ${slug}`)
      if (isOwnPath(slug))
        warnings.push(`${file}: the path /${slug} is the server's own; served as /${slug}.md and .html only`)
      sources.set(slug, { source, file, slug })
    } catch (error) {
      throw unreadable(file, error)
    }
  }
  const folder = {
    findPage: (path: string) => findPage({ pages: sources }, path),
    hasImage: (path: string) => images.has(path),
  }
  const links = options.baseUrl === undefined ? undefined : createLinks(folder, options.baseUrl)
  const pages = new Map<string, Page>()
  for (const { source, file, slug } of sources.values()) {
    try {
      pages.set(slug, readPage(source, file, slug, links))
    } catch (error) {
      throw unreadable(file, error)
    }
  }
  // fetch_page reads skill files in parts, too.
  const state = [
    ...[...pages.values()].map((page) => [page.slug, page.hash]),
    ...[...skills.values()].map(({ name, text }) => [`skills/${name}/SKILL.md`, hashOf(text)]),
  ]
  return { pages, skills, images, warnings, version: hashOf(JSON.stringify(state)).slice(0, 16) }
}
