import { type fetchPage, mostPageSections, mostPageTokens, ToolError } from "@svc/mcp"
import { pageUrl, type Row, type Section } from "@svc/site"
import { z } from "zod"
import type { Page } from "../corpus/corpus.ts"
import { cursorError, readCursor, writeCursor } from "./cursor.ts"
import { findPage, nearestSlugs, readReference } from "../corpus/slug.ts"
import type { Library } from "./tools.ts"

const charactersPerToken = 4
const mostSuggestions = 50

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

export const readPart = (library: Library, args: z.output<typeof fetchPage.input>) => {
  const { corpus, baseUrl, findText } = library
  // A slug that search_docs returned is used as it is, even if it has a `#` or `?`.
  const reference = corpus.pages.has(args.slug)
    ? { path: args.slug, anchor: "", isOwn: true }
    : readReference(args.slug, baseUrl)
  const text = findText(reference.path)
  const page = findPage(corpus, reference.path) ?? findPage(corpus, reference.path.replace(/\.html$/, "")) ?? text
  if (!reference.isOwn) {
    // The page of the same path here would be another one.
    const own =
      page === undefined ? "search_docs finds pages by words." : `Its own page of this path has the slug ${page.slug}.`
    throw new ToolError("page-not-found", `"${args.slug}" isn't a page of this documentation, ${baseUrl}.`, own)
  }
  if (page === undefined) {
    const near = nearestSlugs(corpus, reference.path)
    const hint = `Nearest slugs: ${near.join(", ")}. search_docs finds pages by words.`
    throw new ToolError("page-not-found", `There is no page "${args.slug}".`, hint)
  }
  const wanted = args.section ?? reference.anchor
  let section = wanted === "" ? undefined : findSection(page, wanted)
  if (wanted !== "" && section === undefined) {
    const anchors = page.sections.slice(0, mostSuggestions).map(({ anchor }) => anchor)
    if (anchors.length < page.sections.length) anchors.push("…")
    const message = `The page "${page.slug}" has no section "${wanted}".`
    throw new ToolError("section-not-found", message, `Its sections: ${anchors.join(", ")}.`)
  }
  let from: number | undefined
  if (args.cursor !== undefined) {
    const [, slug, anchor, offset] = readCursor(place, corpus.version, args.cursor)
    if (slug !== page.slug || (section !== undefined && section.anchor !== anchor))
      throw cursorError("The cursor belongs to another page or section.")
    if (anchor !== "") section = findSection(page, anchor)
    from = offset
  }
  const { start, end } = section ?? { start: 0, end: page.markdown.length }
  from ??= start
  if (from !== start && (from < start || from >= end || !page.cuts.includes(from)))
    throw cursorError("The cursor points at no part of this page.")
  const to = partEnd(page, from, end, Math.min(args.max_tokens, mostPageTokens))
  const content = page.markdown.slice(from, to)
  const cursor = to < end ? writeCursor(corpus.version, ["page", page.slug, section?.anchor ?? "", to]) : undefined
  const structured = {
    slug: page.slug,
    title: page.title,
    url: page === text ? `${baseUrl}/${page.file}` : pageUrl(baseUrl, page.slug, section?.anchor),
    ...(section !== undefined && { section: section.anchor }),
    content,
    truncated: cursor !== undefined,
    ...(cursor !== undefined && { next_cursor: cursor }),
    ...((args.sections || cursor !== undefined) && {
      sections: page.sections
        .slice(0, mostPageSections)
        .map(({ anchor, heading, tokens }) => ({ anchor, heading, tokens })),
    }),
    etag: `"${page.hash}"`,
  } satisfies z.input<typeof fetchPage.output>
  const more = `This part ends here; for the next one call fetch_page with cursor ${cursor}`
  const listed = `Sections and their tokens: ${page.sections
    .slice(0, mostPageSections)
    .map(({ anchor, tokens }) => `${anchor} ${tokens}`)
    .join(", ")}`
  const texts = [content, ...(args.sections ? [listed] : []), ...(cursor === undefined ? [] : [more])]
  return { structured, texts }
}
