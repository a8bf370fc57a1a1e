import { McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server"
import { pageUrl } from "@svc/site"
import { findPage, readReference } from "./slug.ts"
import { type Library, annotations, toCallResult, tools } from "./tools.ts"

export const serverName = "svc-docs"

export const serverDescription =
  "Documentation for software agents: search it, read pages and sections as Markdown. Read-only, without sign-in."

/** The files that agents are pointed at, where the folder has them, and the names they go by. */
export const agentFiles = [
  { slug: "skill", name: "svc-platform" },
  { slug: "agent", name: "svc-agent" },
]

const instructions =
  `This server holds the documentation. To answer a question, call search_docs with the few words that
matter (names of commands, fields, error codes and environment variables are found exactly), then read the best result with
fetch_page: pass its slug and, to save tokens, its anchor as section. When you know the page, call fetch_page at once; a
URL works as slug. Long pages come in parts: pass next_cursor back until truncated is false. If nothing is found, try
fewer words or the did_you_mean query. The tools only read; they act on nothing.`.replaceAll("\n", " ")

// As many as the protocol allows in one answer.
const mostProposals = 100
const markdown = "text/markdown"
// The pages change with a deployment, or under an author's hands: a minute is short enough for both.
const hint = { ttlMs: 60_000, cacheScope: "public" } as const

/** A server for one exchange: stateless, the same for every caller and revision. */
export const createDocsServer = (library: Library, version: string): McpServer => {
  const { corpus, baseUrl } = library
  const server = new McpServer(
    { name: serverName, title: "svc documentation", version },
    {
      instructions,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
        completions: {},
      },
      cacheHints: {
        "tools/list": hint,
        "prompts/list": hint,
        "resources/list": hint,
        "resources/templates/list": hint,
        "resources/read": hint,
        "server/discover": hint,
      },
    },
  )
  for (const tool of tools) {
    const { name, title, description, inputSchema, outputSchema } = tool
    server.registerTool(name, { title, description, inputSchema, outputSchema, annotations }, (args: unknown) => {
      const answer = tool.call(library, args)
      if (answer === undefined) throw new TypeError("the arguments do not fit the schema")
      return toCallResult(answer)
    })
  }
  for (const { slug, name } of agentFiles) {
    const page = corpus.pages.get(slug)
    if (page === undefined) continue
    const uri = pageUrl(baseUrl, slug)
    const { title, description } = page
    server.registerResource(name, uri, { title, description, mimeType: markdown }, () => ({
      contents: [{ uri, mimeType: markdown, text: page.markdown }],
    }))
  }
  const pageTemplate = `${baseUrl}/{+slug}.md`
  const template = new ResourceTemplate(pageTemplate, { list: undefined })
  const about = { title: "Documentation page", description: "A page by its slug, as Markdown.", mimeType: markdown }
  server.registerResource("page", template, about, (uri) => {
    const page = findPage(corpus, readReference(uri.href, baseUrl).path)
    if (page === undefined) throw new ResourceNotFoundError(uri.href)
    return { contents: [{ uri: uri.href, mimeType: markdown, text: page.markdown }] }
  })
  // What can't be completed gets no proposals: clients ask while their users type, and want no error for it.
  server.server.setRequestHandler("completion/complete", ({ params: { ref, argument } }) => {
    const known = ref.type === "ref/resource" && ref.uri === pageTemplate && argument.name === "slug"
    const slugs = known ? [...corpus.pages.keys()].filter((slug) => slug.startsWith(argument.value)) : []
    return {
      completion: { values: slugs.slice(0, mostProposals), total: slugs.length, hasMore: slugs.length > mostProposals },
    }
  })
  return server
}
