// The two tools of the documentation, which both servers have.
import { z } from "zod"

/** The subject of the pages, for clients that choose between several documentation servers. */
export type Product = { readonly name: string; readonly about: string }

/** The most tokens of a part of a page, at four characters each. */
export const mostPageTokens = 20_000
export const mostPageSections = 500

const cursor = z.string().max(4000).optional()

/** The tools only read pages. */
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

export const searchDocs = {
  name: "search_docs",
  title: "Search the documentation",
  describe: ({ name, about }: Product): string =>
    `Searches the ${name} documentation${about === "" ? "" : ` (${about.replace(/\.$/, "")})`} and returns the best section of each page with a snippet. Use the few ` +
    "words that matter: names of commands, error codes, environment variables, API fields and `METHOD /path` are " +
    "found exactly. Then read a result with fetch_page.",
  annotations,
  input: z.strictObject({
    query: z.string().min(1).max(500).meta({ description: "Words to look for, 1 to 500 characters." }),
    limit: z.int().min(1).max(20).default(5).meta({ description: "Results in one response." }),
    cursor: cursor.meta({ description: "next_cursor of the previous response, for further results." }),
  }),
  output: z.object({
    query: z.string(),
    results: z.array(
      z.object({
        slug: z.string().meta({ description: "The page, for fetch_page." }),
        title: z.string(),
        section: z.string().meta({ description: "Heading of the section that fits best." }),
        anchor: z
          .string()
          .meta({ description: "That section, for fetch_page; empty for text above the first heading." }),
        url: z.string(),
        snippet: z.string(),
        score: z.number().meta({ description: "Only for the order." }),
      }),
    ),
    total: z.int().meta({ description: "Relevant pages, further ones included." }),
    next_cursor: z.string().optional(),
    did_you_mean: z.string().optional().meta({ description: "The query with its unknown words corrected." }),
    hint: z.string().optional().meta({ description: "What to try, if nothing was found." }),
  }),
}

export const fetchPage = {
  name: "fetch_page",
  title: "Read a documentation page",
  describe: ({ name }: Product): string =>
    `Returns a page of the ${name} documentation as Markdown, or one section of it. Take slug and anchor from ` +
    "search_docs. Long pages come in parts: call again with next_cursor for the next one, or name a section.",
  annotations,
  // search_docs calls it anchor.
  aliases: { path: "slug", url: "slug", anchor: "section" },
  input: z.strictObject({
    slug: z.string().min(1).max(2000).meta({ description: "The page's slug, path or URL, with #anchor or without." }),
    section: z.string().min(1).max(500).optional().meta({ description: "Anchor or heading of one section." }),
    cursor: cursor.meta({ description: "next_cursor of the previous response, for the next part." }),
    max_tokens: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(mostPageTokens)
      .meta({
        description: `Most tokens in one response, at 4 characters a token; ${mostPageTokens} at most.`,
      }),
    sections: z.boolean().default(false).meta({ description: "Whether to list the page's sections." }),
  }),
  output: z.object({
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
        description: `The page's sections, ${mostPageSections} at most: when asked for, or when content is truncated.`,
      }),
    etag: z.string().meta({ description: "Changes with the page's text; the page's ETag over HTTP." }),
  }),
}
