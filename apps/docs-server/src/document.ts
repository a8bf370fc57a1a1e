import { openApiDocument } from "@svc/openapi"
import { tools } from "./mcp/tools.ts"
import { type DocsApp, headers, refsTo } from "./routes/describe-route.ts"

const info = {
  title: "Documentation server",
  // The version of this description, not of the server.
  version: "1.0.0",
  description: "Machine-readable documentation: Markdown pages, search, and an MCP endpoint. No authentication.",
  tags: [
    { name: "mcp", description: "The tool server" },
    { name: "pages", description: "Documentation as Markdown" },
    { name: "discovery", description: "What this server is" },
  ],
}

export const describeDocs = (app: DocsApp, baseUrl: string) => {
  for (const { name, listed } of tools) {
    const prefix = name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
    for (const [part, schema] of [
      ["Arguments", listed.inputSchema],
      ["Result", listed.outputSchema],
    ] as const)
      app.openAPIRegistry.registerComponent("schemas", `${prefix}${part}`, schema as object)
  }
  for (const [name, header] of Object.entries(headers)) app.openAPIRegistry.registerComponent("headers", name, header)
  const document = openApiDocument(app, info, [{ url: baseUrl }])
  for (const operations of Object.values(document.paths ?? {}))
    for (const { responses } of Object.values(operations) as { responses: Record<string, { headers?: object }> }[])
      for (const response of Object.values(responses))
        response.headers = { ...refsTo("X-Request-Id"), ...response.headers }
  return document
}
