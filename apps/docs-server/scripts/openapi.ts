import { type DocumentedRoute, createApi, documented, errorResponses, openApiDocument, z } from "@svc/openapi"
import { mcpDescriptor, mcpTool } from "../src/mcp/descriptor.ts"
import { type ErrorCode, errors } from "../src/errors.ts"
import { jsonRpcRequest, jsonRpcResponse, messageBounds } from "../src/mcp/json-rpc.ts"
import { tools } from "../src/mcp/tools.ts"

// Schemas that have a name in the document.
const [rpcRequest, rpcResponse] = [jsonRpcRequest.openapi("JsonRpcRequest"), jsonRpcResponse.openapi("JsonRpcResponse")]
const descriptor = mcpDescriptor.extend({ tools: z.array(mcpTool.openapi("McpTool")) }).openapi("McpDescriptor")
const errorResponse = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(errors.rows)).meta({ description: "Stable machine-readable code." }),
      message: z.string().meta({ description: "Explanation for people." }),
      hint: z.string().meta({ description: "What to do about it." }),
    }),
  })
  .meta({
    description: "Every answer with an error status; from a well-formed JSON-RPC message on, errors are JSON-RPC's.",
  })
  .openapi("ErrorResponse")
const probe = z.object({ status: z.enum(["ok", "unavailable"]), missing: z.array(z.enum(["pages"])) }).openapi("Probe")
const healthAnswer = z.object({ status: z.literal("ok"), version: z.string(), pages: z.int() }).openapi("Health")

// Every operation is open: what they all say is added below.
type Described = Omit<DocumentedRoute, "x-access">

const failures = (...codes: ErrorCode[]) =>
  errorResponses(errors, () => errorResponse, ...codes, "forbidden", "rate_limited", "internal_error")
const text = (description: string, type: string) => ({ description, content: { [type]: { schema: z.string() } } })
const notModified = { 304: { description: "The caller has this content already (If-None-Match)." } }
const json = (description: string, schema: z.ZodType) => ({ description, content: { "application/json": { schema } } })

const toolNotes = tools.map(({ name, describe }) => `- \`${name}\`: ${describe({ name: "svc", about: "" })}`).join("\n")

const mcpRoutes = (path: string, alias: string): Described[] => [
  {
    method: "get",
    path,
    summary: `Descriptor of the MCP server${alias}`,
    description:
      "Answers the descriptor. When `Accept` names `text/event-stream` and wants it more than JSON, the event stream of " +
      "Streamable HTTP is opened instead, for MCP revisions that have it: 405 says that there is none, or none free; 429 that the address has too many open.",
    operationId: alias === "" ? "getMcpDescriptor" : "getMcpDescriptorLegacy",
    tags: ["mcp"],
    request: { headers: z.object({ accept: z.string().default("application/json").optional() }) },
    responses: {
      200: {
        description: "The descriptor, or the stream.",
        content: { "application/json": { schema: descriptor }, "text/event-stream": { schema: z.string() } },
      },
      ...notModified,
      ...failures("invalid_request", "method_not_allowed"),
    },
  },
  {
    method: "post",
    path,
    summary: `Call the MCP server${alias}`,
    description:
      `One JSON-RPC 2.0 message of the Model Context Protocol over Streamable HTTP: at most ${messageBounds.bytes / 1024} KiB, ` +
      `${messageBounds.values} values and ${messageBounds.depth} levels of nesting. Tools:\n\n${toolNotes}`,
    operationId: alias === "" ? "postMcp" : "postMcpLegacy",
    tags: ["mcp"],
    request: { body: { required: true, content: { "application/json": { schema: rpcRequest } } } },
    responses: {
      200: {
        description: "The result or a JSON-RPC error; a stream for methods that are one by nature.",
        content: { "application/json": { schema: rpcResponse }, "text/event-stream": { schema: z.string() } },
      },
      202: { description: "A notification or a response was taken; there is no body." },
      ...withJsonRpc(failures("invalid_request", "not_found", "request_too_large", "unsupported_media_type")),
    },
  },
]

// MCP 2026-07-28 answers its own errors, JSON-RPC ones, with 400 and 404.
const withJsonRpc = (responses: ReturnType<typeof failures>): Described["responses"] =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { description, content }]) => {
      const { schema } = content["application/json"]
      const either = status === "400" || status === "404" ? z.union([schema, rpcResponse]) : schema
      return [status, { description, content: { "application/json": { schema: either } } }]
    }),
  )

const get = (
  tag: "pages" | "discovery",
  path: string,
  operationId: string,
  summary: string,
  responses: Described["responses"],
  params?: z.ZodObject,
): Described => ({
  method: "get",
  path,
  operationId,
  summary,
  tags: [tag],
  ...(params !== undefined && { request: { params } }),
  responses,
})
const cached = { ...notModified, ...failures("not_found") }
const page = (path: string, operationId: string, summary: string, type: string, params?: z.ZodObject): Described =>
  get("pages", path, operationId, summary, { 200: text("The text.", type), ...cached }, params)
const data = (path: string, operationId: string, summary: string, schema: z.ZodType): Described =>
  get("discovery", path, operationId, summary, { 200: json("The document.", schema), ...cached })
const tarball = (path: string, operationId: string, summary: string): Described =>
  get("discovery", path, operationId, summary, { 200: text("The npm package.", "application/gzip"), ...cached })
// Answered ahead of what may refuse a request.
const health = (description: string, schema: z.ZodType = probe) => ({
  200: json(description, schema),
  ...errorResponses(errors, () => errorResponse, "internal_error"),
})
const unready = { 503: json("What `missing` names is not there yet.", probe) }

const slug = z.object({ slug: z.string().meta({ description: "The page's path; it may have slashes." }) })
const skillName = z.object({ name: z.string().meta({ description: "As the index of the skills lists it." }) })
const skill = z.object({
  name: z.string(),
  type: z.string(),
  description: z.string(),
  url: z.url(),
  digest: z.string(),
})
const skillIndex = z.object({ $schema: z.url(), skills: z.array(skill) })
const anyObject = z.record(z.string(), z.unknown())
const markdown = "text/markdown"

const routes: Described[] = [
  ...mcpRoutes("/mcp", ""),
  ...mcpRoutes("/mcp/sse", ", legacy alias"),
  data("/openapi.json", "getOpenApi", "OpenAPI document", anyObject),
  page("/", "getPageMap", "Page map", markdown),
  page("/llms.txt", "getLlmsTxt", "Page map, as llms.txt", "text/plain"),
  page("/llms-full.txt", "getLlmsFullTxt", "All pages in one", "text/plain"),
  page("/skill.md", "getSkill", "Skill file of the platform", markdown),
  page("/agent.md", "getAgent", "Bootstrap file of agents", markdown),
  page("/{slug}.md", "getPageMarkdown", "Page, by its .md address", markdown, slug),
  page("/{slug}", "getPage", "Page", markdown, slug),
  page("/skills/{name}/SKILL.md", "getSkillFile", "Skill file, by name", markdown, skillName),
  data("/client/test-vectors.json", "getClientTestVectors", "Test vectors for clients", anyObject),
  data("/.well-known/mcp.json", "getWellKnownMcp", "Descriptor, well-known path", descriptor),
  data("/.well-known/mcp/server-card.json", "getServerCard", "MCP server card", anyObject),
  data("/.well-known/agent-skills/index.json", "getSkillIndex", "Index of the skill files", skillIndex),
  tarball("/cli/svc.tgz", "getCli", "Command-line tool, for npx"),
  tarball("/client/svc-client.tgz", "getClientLibrary", "Client library, for npm install"),
  get("discovery", "/livez", "getLiveness", "Liveness", health("The process serves.")),
  get("discovery", "/readyz", "getReadiness", "Readiness", { ...health("It is ready."), ...unready }),
  get("discovery", "/health", "getHealth", "Health", health("It is up.", healthAnswer)),
]

const api = createApi({ ownReasons: false })
for (const { name, inputSchema, outputSchema } of tools) {
  const prefix = name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  api.openAPIRegistry.register(`${prefix}Arguments`, inputSchema)
  api.openAPIRegistry.register(`${prefix}Result`, outputSchema)
}
for (const route of routes) documented(api, { ...route, "x-access": { callers: ["anyone"] } }, (c) => c.notFound())

/** The OpenAPI document, made from the schemas that the server checks and answers with. It is served as it is committed. */
export const document: unknown = openApiDocument(
  api,
  {
    title: "Documentation server",
    // The version of this description, which is not the server's.
    version: "1.0.0",
    description: "Machine-readable documentation: Markdown pages, search, and an MCP endpoint. No authentication.",
    tags: [
      { name: "mcp", description: "The tool server" },
      { name: "pages", description: "Documentation as Markdown" },
      { name: "discovery", description: "What this server is" },
    ],
  },
  [{ url: "http://localhost:4001" }],
)
