import { z } from "@svc/openapi"
import type { Corpus } from "../corpus/corpus.ts"
import { descriptionFor, resourcesOf, serverName, skillName, titleFor } from "./mcp.ts"
import type { Product } from "@svc/mcp"
import { type DocsTool, tools } from "./tools.ts"

const mcpTool = z
  .object({
    name: z.enum(tools.map(({ name }) => name)),
    title: z.string().optional(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    annotations: z.record(z.string(), z.boolean()).optional(),
  })
  .openapi("McpTool")

export const mcpDescriptor = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    version: z.string().optional(),
    protocolVersion: z.string().optional().meta({ description: "The newest MCP revision served." }),
    protocolVersions: z.array(z.string()).optional().meta({ description: "All MCP revisions served, newest first." }),
    transport: z.literal("streamable-http").optional(),
    endpoint: z.url(),
    aliases: z.array(z.url()).optional(),
    tools: z.array(mcpTool),
    resources: z
      .array(z.object({ uri: z.url(), name: z.string(), description: z.string(), mimeType: z.string() }))
      .optional(),
    prompts: z.array(z.string()).max(0).optional(),
  })
  .openapi("McpDescriptor")

export type About = {
  readonly baseUrl: string
  readonly version: string
  readonly protocolVersions: readonly string[]
  readonly product: Product
  readonly tools: readonly DocsTool[]
}

export const createDescriptor = (
  corpus: Corpus,
  { baseUrl, version, protocolVersions, product, tools: served }: About,
) => ({
  name: serverName,
  description: descriptionFor(product),
  version,
  protocolVersion: protocolVersions[0] ?? "",
  protocolVersions: [...protocolVersions],
  transport: "streamable-http" as const,
  endpoint: `${baseUrl}/mcp`,
  aliases: [`${baseUrl}/mcp/sse`],
  tools: served.map(({ listed }) => listed),
  // The others are for agents that have found the server already.
  resources: resourcesOf(corpus, baseUrl).flatMap(({ title: _title, ...one }) => (one.name === skillName ? [one] : [])),
  prompts: [] as string[],
})

/** The server card, from which registries learn about the server without connecting. */
export const createServerCard = (corpus: Corpus, about: About) => {
  const descriptor = createDescriptor(corpus, about)
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/mcp-server-card/v1.json",
    version: "1.0",
    protocolVersion: descriptor.protocolVersion,
    serverInfo: { name: descriptor.name, title: titleFor(about.product), version: descriptor.version },
    description: descriptor.description,
    documentationUrl: `${about.baseUrl}/llms.txt`,
    transport: { type: descriptor.transport, endpoint: descriptor.endpoint },
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    authentication: { required: false, schemes: [] },
    tools: descriptor.tools,
    resources: descriptor.resources,
    prompts: descriptor.prompts,
  }
}
