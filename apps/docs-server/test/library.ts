import { type Corpus, readPage } from "../src/corpus/corpus.ts"
import { createSearch } from "../src/search/search.ts"
import { ToolError } from "@svc/mcp"
import { createDocsServer } from "../src/mcp/mcp.ts"
import { rememberAnswers } from "../src/mcp/repeated.ts"
import { createSdk } from "../src/mcp/sdk.ts"
import { type Library, type ToolAnswer, toolsFor } from "../src/mcp/tools.ts"

/** A library of pages by their slugs, without a folder. */
export const libraryOf = (texts: Readonly<Record<string, string>>, version = "v1"): Library => {
  const pages = Object.entries(texts).map(([slug, text]) => [slug, readPage(text, `${slug}.md`, slug)] as const)
  return libraryFor({ pages: new Map(pages), skills: new Map(), images: new Map(), version, warnings: [] })
}

const product = { name: "Fixture", about: "" }

export const libraryFor = (corpus: Corpus): Library => ({
  corpus,
  search: createSearch(corpus),
  baseUrl: "https://docs.example",
  product,
  tools: toolsFor(product),
  findText: () => undefined,
})

/** What the SDK answers of a library, and the same from memory. */
export const answersOf = async (library: () => Library) => {
  const sdk = await createSdk(
    () => createDocsServer(library(), "1.0.0"),
    () => {},
  )
  return { sdk, remembered: rememberAnswers(sdk.answer, library) }
}

export const call = (library: Library, name: string, args: unknown): ToolAnswer | { readonly refusal: string } => {
  const tool = library.tools.find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  try {
    return tool.run(library, args)
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    return { refusal: `${error.code}: ${error.message} ${error.hint}` }
  }
}

export const ask = (library: Library, name: string, args: unknown): Record<string, unknown> => {
  const answer = call(library, name, args)
  if ("refusal" in answer) throw new Error(answer.refusal)
  return answer.structured
}
