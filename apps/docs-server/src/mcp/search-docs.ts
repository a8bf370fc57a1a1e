import type { searchDocs } from "@svc/mcp"
import { pageUrl } from "@svc/site"
import { z } from "zod"
import { cursorError, readCursor, writeCursor } from "./cursor.ts"
import type { Library } from "./tools.ts"

const place = z.tuple([z.literal("search"), z.string(), z.int().nonnegative()])

const emptyText = (query: string, searchable: boolean, llmsTxt: string): string =>
  searchable
    ? `Nothing matches "${query}". Try fewer or other words; ${llmsTxt} lists all pages.`
    : `"${query}" has only common words or signs, which are not searched. Name what you look for; ${llmsTxt} lists all pages.`

export const findSections = (library: Library, args: z.output<typeof searchDocs.input>) => {
  const { corpus, search, baseUrl } = library
  const { query, limit, cursor } = args
  let offset = 0
  if (cursor !== undefined) {
    const [, madeFor, from] = readCursor(place, corpus.version, cursor)
    if (madeFor !== query) throw cursorError("The cursor belongs to another query.")
    offset = from
  }
  const { hits, total, corrected, searchable } = search(query, offset, limit)
  const results = hits.map(({ page, section, snippet, score }) => ({
    slug: page.slug,
    title: page.title,
    section: section?.heading ?? page.title,
    anchor: section?.anchor ?? "",
    url: pageUrl(baseUrl, page.slug, section?.anchor),
    snippet,
    score: Math.round(score * 100) / 100,
  }))
  const next = offset + results.length
  const meant = corrected === undefined ? "" : `Did you mean "${corrected}"?\n\n`
  const listed = results.map(
    (hit, i) =>
      `${offset + i + 1}. ${hit.title}${hit.section === hit.title ? "" : ` › ${hit.section}`}\n   ${hit.url}\n   ${hit.snippet}`,
  )
  const nextCursor =
    next < total && results.length > 0 ? writeCursor(corpus.version, ["search", query, next]) : undefined
  const more =
    nextCursor === undefined ? "" : `\n\n${total - next} further results: call again with cursor ${nextCursor}`
  const hint = results.length === 0 ? emptyText(query, searchable, `${baseUrl}/llms.txt`) : undefined
  const text = `${meant}${hint ?? listed.join("\n\n")}${more}`
  const structured = {
    query,
    results,
    total,
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
    ...(corrected !== undefined && { did_you_mean: corrected }),
    ...(hint !== undefined && { hint }),
  } satisfies z.input<typeof searchDocs.output>
  return { structured, texts: [text] }
}
