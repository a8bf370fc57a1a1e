import { z } from "zod"
import type { Corpus, Page } from "../corpus/corpus.ts"
import { CursorError } from "./cursor.ts"
import { fetchPage, fetchPageInput, fetchPageOutput } from "./fetch-page.ts"
import type { Search } from "../search/search.ts"
import { searchDocs, searchDocsInput, searchDocsOutput } from "./search-docs.ts"

/** The subject of the pages, for clients that choose between several documentation servers. */
export type Product = { readonly name: string; readonly about: string }

/** What the tools read. */
export type Library = {
  readonly corpus: Corpus
  readonly search: Search
  readonly baseUrl: string
  readonly product: Product
  /** Finds texts that aren't pages, such as skill files and llms.txt, by path. */
  readonly findText: (path: string) => Page | undefined
}

/** A tool's result: structured data and the same as text, or a refusal that the caller can act on. */
export type ToolAnswer =
  | { readonly structured: Record<string, unknown>; readonly texts: readonly string[] }
  | { readonly refusal: string }

export type Tool = {
  readonly name: string
  readonly title: string
  readonly describe: (product: Product) => string
  readonly inputSchema: z.ZodObject
  readonly outputSchema: z.ZodObject
  /** Runs the tool with unchecked arguments. Returns undefined if they don't match the schema. */
  readonly call: (library: Library, args: unknown) => ToolAnswer | undefined
}

/** The tools only read pages of this server. */
export const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

const defineTool = <I extends z.ZodObject, O extends z.ZodObject>(
  tool: Pick<Tool, "name" | "title" | "describe"> & { inputSchema: I; outputSchema: O },
  run: (
    library: Library,
    args: z.output<I>,
  ) => { structured: z.input<O>; texts: readonly string[] } | { refusal: string },
): Tool => ({
  ...tool,
  call: (library, args) => {
    const parsed = tool.inputSchema.safeParse(args)
    if (!parsed.success) return undefined
    try {
      return run(library, parsed.data)
    } catch (error) {
      if (error instanceof CursorError) return { refusal: error.message }
      throw error
    }
  },
})

/** The tools, defined here once: server, descriptor, server card and OpenAPI document are made from this list. */
export const tools: readonly Tool[] = [
  defineTool(
    {
      name: "search_docs",
      title: "Search the documentation",
      describe: ({ name, about }) =>
        `Searches the ${name} documentation${about === "" ? "" : ` (${about.replace(/\.$/, "")})`} and returns the best section of each page with a snippet. Use the few ` +
        "words that matter: names of commands, error codes, environment variables, API fields and `METHOD /path` are " +
        "found exactly. Then read a result with fetch_page.",
      inputSchema: searchDocsInput,
      outputSchema: searchDocsOutput,
    },
    searchDocs,
  ),
  defineTool(
    {
      name: "fetch_page",
      title: "Read a documentation page",
      describe: ({ name }) =>
        `Returns a page of the ${name} documentation as Markdown, or one section of it. Take slug and anchor from ` +
        "search_docs. Long pages come in parts: call again with next_cursor for the next one, or name a section.",
      inputSchema: fetchPageInput,
      outputSchema: fetchPageOutput,
    },
    fetchPage,
  ),
]

/** A tool's answer as the result of tools/call. */
export const toCallResult = (answer: ToolAnswer) =>
  "refusal" in answer
    ? { content: [{ type: "text" as const, text: answer.refusal }], isError: true }
    : { content: answer.texts.map((text) => ({ type: "text" as const, text })), structuredContent: answer.structured }
