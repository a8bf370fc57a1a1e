// The documentation server's peer: the same pages and tools by MiniSearch and the official SDK, with a server and a transport for each request.
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"
import { fetchPage, searchDocs } from "@svc/mcp"
import MiniSearch from "minisearch"
import { ownContent, ownFacts } from "../apps/docs-server/src/config.ts"
import { loadCorpus } from "../apps/docs-server/src/corpus/corpus.ts"
import { createPeer, listen } from "./peer.ts"

const { pages } = await loadCorpus(ownContent, { fill: ownFacts })
const search = new MiniSearch({
  idField: "slug",
  fields: ["title", "markdown"],
  storeFields: ["title", "description"],
  searchOptions: { boost: { title: 2 }, prefix: true, fuzzy: 0.2 },
})
search.addAll([...pages.values()])

const product = { name: "svc", about: "" }
const { input, output, annotations } = searchDocs
const searching = { description: searchDocs.describe(product), annotations, inputSchema: input, outputSchema: output }
const reading = { description: fetchPage.describe(product), annotations, inputSchema: fetchPage.input }

const createServer = (): McpServer => {
  const server = new McpServer({ name: "peer", version: "1.0.0" })
  server.registerTool(searchDocs.name, searching, ({ query, limit }) => {
    const found = search.search(query)
    const results = found.slice(0, limit).map(({ id, title, description, score }) => ({
      slug: String(id),
      title: String(title),
      section: String(title),
      anchor: "",
      url: `http://localhost/${id}`,
      snippet: String(description),
      score,
    }))
    const structuredContent = { query, results, total: found.length }
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
  })
  server.registerTool(fetchPage.name, reading, ({ slug }) => ({
    content: [{ type: "text", text: pages.get(slug)?.markdown ?? "" }],
  }))
  return server
}

const app = createPeer((c) => c.req.header("x-forwarded-for") ?? "all")
app.post("/mcp", async (c) => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await createServer().connect(transport)
  return transport.handleRequest(c.req.raw)
})
listen(app)
