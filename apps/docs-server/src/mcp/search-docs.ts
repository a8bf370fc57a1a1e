import { z } from "@svc/openapi"
import { readCursor, writeCursor } from "./cursor.ts"
import { pageUrl } from "@svc/site"
import type { Library } from "./tools.ts"

export const searchDocsInput = z.object({
  query: z.string().min(1).max(500).meta({ description: "Words to look for, 1 to 500 characters." }),
  limit: z.int().min(1).max(20).default(5).meta({ description: "Results in one response." }),
  cursor: z
    .string()
    .max(4000)
    .optional()
    .meta({ description: "next_cursor of the previous response, for further results." }),
})

export const searchDocsOutput = z.object({
  query: z.string(),
  results: z.array(
    z.object({
      slug: z.string().meta({ description: "The page, for fetch_page." }),
      title: z.string(),
      section: z.string().meta({ description: "Heading of the section that fits best." }),
      anchor: z.string().meta({ description: "That section, for fetch_page; empty for text above the first heading." }),
      url: z.string(),
      snippet: z.string(),
      score: z.number().meta({ description: "Only for the order." }),
    }),
  ),
  total: z.int().meta({ description: "Relevant pages, further ones included." }),
  next_cursor: z.string().optional(),
  did_you_mean: z.string().optional().meta({ description: "The query with its unknown words corrected." }),
})

const place = z.tuple([z.literal("search"), z.string(), z.int().nonnegative()])

const emptyText = (query: string, searchable: boolean, llmsTxt: string): string =>
  searchable
    ? `Nothing matches "${query}". Try fewer or other words; ${llmsTxt} lists all pages.`
    : `"${query}" has only common words, which are not searched. Name what you look for; ${llmsTxt} lists all pages.`

export const searchDocs = (library: Library, args: z.output<typeof searchDocsInput>) => {
  const { corpus, search, baseUrl } = library
  const { query, limit, cursor } = args
  let offset = 0
  if (cursor !== undefined) {
    const [, madeFor, from] = readCursor(place, corpus.version, cursor)
    if (madeFor !== query) return { refusal: "The cursor belongs to another query. Call again without a cursor." }
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
  const text =
    results.length === 0
      ? `${meant}${emptyText(query, searchable, `${baseUrl}/llms.txt`)}`
      : `${meant}${listed.join("\n\n")}${more}`
  return {
    structured: {
      query,
      results,
      total,
      ...(nextCursor !== undefined && { next_cursor: nextCursor }),
      ...(corrected !== undefined && { did_you_mean: corrected }),
    },
    texts: [text],
  }
}
