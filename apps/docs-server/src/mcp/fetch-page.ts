import { pageUrl, type Row, type Section } from "@svc/site"
import { z } from "@svc/openapi"
import type { Page } from "../corpus/corpus.ts"
import { readCursor, writeCursor } from "./cursor.ts"
import { findPage, nearestSlugs, readReference } from "../corpus/slug.ts"
import type { Library } from "./tools.ts"

export const mostTokens = 20_000
const charactersPerToken = 4
export const mostSections = 500
const mostSuggestions = 50

export const fetchPageInput = z.object({
  slug: z.string().min(1).max(2000).meta({ description: "The page's slug or URL, with #anchor or without." }),
  section: z.string().min(1).max(500).optional().meta({ description: "Anchor or heading of one section." }),
  cursor: z
    .string()
    .max(4000)
    .optional()
    .meta({ description: "next_cursor of the previous response, for the next part." }),
  max_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(mostTokens)
    .meta({
      description: `Most tokens in one response, at 4 characters a token; ${mostTokens} at most.`,
    }),
  sections: z.boolean().default(false).meta({ description: "Whether to list the page's sections." }),
})

export const fetchPageOutput = z.object({
  slug: z.string(),
  title: z.string(),
  url: z.string(),
  section: z.string().optional().meta({ description: "Anchor of the section, when one was asked for." }),
  content: z.string().meta({ description: "Markdown. The parts of a page joined by nothing are the page." }),
  truncated: z.boolean().meta({ description: "Whether there is a next part." }),
  next_cursor: z.string().optional(),
  sections: z
    .array(
      z.object({
        anchor: z.string(),
        heading: z.string(),
        tokens: z.int().meta({ description: "Tokens that fetching it costs." }),
      }),
    )
    .optional()
    .meta({
      description: `The page's sections, ${mostSections} at most: when asked for, or when content is truncated.`,
    }),
  etag: z.string().meta({ description: "Changes with the page's text; the page's ETag over HTTP." }),
})

const place = z.tuple([z.literal("page"), z.string(), z.string(), z.int().nonnegative()])

const findSection = (page: Page, wanted: string): Section | Row | undefined => {
  const name = wanted.replace(/^#+\s*/, "")
  const folded = name.toLowerCase()
  return (
    page.sections.find((section) => section.anchor === name) ??
    page.sections.find(
      (section) => section.anchor.toLowerCase() === folded || section.heading.toLowerCase() === folded,
    ) ??
    page.rows.find(({ anchor }) => anchor === name)
  )
}

/** The end of the part that starts at `from`: as many whole blocks as fit, but at least one. */
const partEnd = (page: Page, from: number, end: number, tokens: number): number => {
  const limit = from + tokens * charactersPerToken
  if (end <= limit) return end
  const cuts = page.cuts.filter((cut) => cut > from && cut < end)
  return cuts.findLast((cut) => cut <= limit) ?? cuts[0] ?? end
}

export const fetchPage = (library: Library, args: z.output<typeof fetchPageInput>) => {
  const { corpus, baseUrl, findText } = library
  // A slug that search_docs returned is used as it is, even if it has a `#` or `?`.
  const reference = corpus.pages.has(args.slug)
    ? { path: args.slug, anchor: "", isOwn: true }
    : readReference(args.slug, baseUrl)
  const text = reference.isOwn ? findText(reference.path) : undefined
  const page = findPage(corpus, reference.path) ?? findPage(corpus, reference.path.replace(/\.html$/, "")) ?? text
  if (page === undefined) {
    const near = nearestSlugs(corpus, reference.path)
    return {
      refusal: `There is no page "${args.slug}". Nearest slugs: ${near.join(", ")}. search_docs finds pages by words.`,
    }
  }
  const wanted = args.section ?? reference.anchor
  let section = wanted === "" ? undefined : findSection(page, wanted)
  if (wanted !== "" && section === undefined) {
    const anchors = page.sections.slice(0, mostSuggestions).map(({ anchor }) => anchor)
    if (anchors.length < page.sections.length) anchors.push("…")
    return { refusal: `The page "${page.slug}" has no section "${wanted}". Its sections: ${anchors.join(", ")}.` }
  }
  let from: number | undefined
  if (args.cursor !== undefined) {
    const [, slug, anchor, offset] = readCursor(place, corpus.version, args.cursor)
    if (slug !== page.slug || (section !== undefined && section.anchor !== anchor))
      return { refusal: "The cursor belongs to another page or section. Call again without a cursor." }
    if (anchor !== "") section = findSection(page, anchor)
    from = offset
  }
  const { start, end } = section ?? { start: 0, end: page.markdown.length }
  from ??= start
  if (from !== start && (from < start || from >= end || !page.cuts.includes(from)))
    return { refusal: "The cursor points at no part of this page. Call again without a cursor." }
  const to = partEnd(page, from, end, Math.min(args.max_tokens, mostTokens))
  const content = page.markdown.slice(from, to)
  const cursor = to < end ? writeCursor(corpus.version, ["page", page.slug, section?.anchor ?? "", to]) : undefined
  return {
    structured: {
      slug: page.slug,
      title: page.title,
      url: page === text ? `${baseUrl}/${page.file}` : pageUrl(baseUrl, page.slug, section?.anchor),
      ...(section !== undefined && { section: section.anchor }),
      content,
      truncated: cursor !== undefined,
      ...(cursor !== undefined && { next_cursor: cursor }),
      ...((args.sections || cursor !== undefined) && {
        sections: page.sections
          .slice(0, mostSections)
          .map(({ anchor, heading, tokens }) => ({ anchor, heading, tokens })),
      }),
      etag: `"${page.hash}"`,
    },
    texts:
      cursor === undefined
        ? [content]
        : [content, `This part ends here; for the next one call fetch_page with cursor ${cursor}`],
  }
}
