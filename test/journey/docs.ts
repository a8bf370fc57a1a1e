import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { z } from "zod"
import { page } from "./shapes.ts"

const found = z.object({ results: z.array(z.object({ slug: z.string(), title: z.string() })) })

/** The documentation as an MCP client has it, in the newest revision that both sides speak. */
export const connectDocs = async (docsUrl: string) => {
  const client = new Client({ name: "journey", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${docsUrl}/mcp`)))
  const call = async (name: string, args: Record<string, unknown>): Promise<unknown> =>
    (await client.callTool({ name, arguments: args })).structuredContent
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    tools: (await client.listTools()).tools.map(({ name }) => name),
    search: async (query: string) => found.parse(await call("search_docs", { query, limit: 3 })).results,
    fetch: async (slug: string) => page.parse(await call("fetch_page", { slug })),
    close: () => client.close(),
  }
}
