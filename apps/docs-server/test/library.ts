import { type Corpus, readPage } from "../src/corpus/corpus.ts"
import { createSearch } from "../src/search/search.ts"
import { type Library, type ToolAnswer, tools } from "../src/mcp/tools.ts"

/** A library of pages by their slugs, without a folder. */
export const libraryOf = (texts: Readonly<Record<string, string>>, version = "v1"): Library => {
  const pages = Object.entries(texts).map(([slug, text]) => [slug, readPage(text, `${slug}.md`, slug)] as const)
  return libraryFor({ pages: new Map(pages), skills: new Map(), images: new Map(), version, warnings: [] })
}

export const libraryFor = (corpus: Corpus): Library => ({
  corpus,
  search: createSearch(corpus),
  baseUrl: "https://docs.example",
  product: { name: "Fixture", about: "" },
  findText: () => undefined,
})

/** Calls a tool by name with whatever arguments. */
export const call = (library: Library, name: string, args: unknown): ToolAnswer => {
  const tool = tools.find((one) => one.name === name)
  const answer = tool?.call(library, args)
  if (answer === undefined) throw new Error(`bad arguments for ${name}`)
  return answer
}

/** The structured answer of a tool, or an error with the refusal. */
export const ask = (library: Library, name: string, args: unknown): Record<string, unknown> => {
  const answer = call(library, name, args)
  if ("refusal" in answer) throw new Error(answer.refusal)
  return answer.structured
}
