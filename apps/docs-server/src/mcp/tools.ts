import { defineTool, fetchPage, type Product, searchDocs, type Tool } from "@svc/mcp"
import type { Corpus, Page } from "../corpus/corpus.ts"
import { readPart } from "./fetch-page.ts"
import type { Search } from "../search/search.ts"
import { findSections } from "./search-docs.ts"

export type Library = {
  readonly corpus: Corpus
  readonly search: Search
  readonly baseUrl: string
  readonly product: Product
  readonly tools: readonly DocsTool[]
  /** Finds texts that aren't pages, such as skill files and llms.txt, by path. */
  readonly findText: (path: string) => Page | undefined
}

export type ToolAnswer = { readonly structured: Record<string, unknown>; readonly texts: readonly string[] }

export type DocsTool = Tool<Library, ToolAnswer>

/** The tools for a subject: server, descriptor, server card and OpenAPI document are made from this list. */
export const toolsFor = (product: Product): readonly DocsTool[] => [
  defineTool({ ...searchDocs, description: searchDocs.describe(product) }, findSections),
  defineTool({ ...fetchPage, description: fetchPage.describe(product) }, readPart),
]

/** The tools as the product's own documentation has them. */
export const tools = toolsFor({ name: "svc", about: "" })
