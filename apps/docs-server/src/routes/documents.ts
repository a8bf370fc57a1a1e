import { createRoute, json, z } from "@svc/openapi"
import { mcpDescriptor } from "../mcp/descriptor.ts"
import { failures, notModified, open, refsTo, text } from "./describe-route.ts"

const describe = (
  tag: "pages" | "discovery",
  path: string,
  operationId: string,
  summary: string,
  content: ReturnType<typeof text> | ReturnType<typeof json>,
  params?: z.ZodObject,
) => {
  const headers = tag === "pages" ? refsTo("Link") : {}
  return createRoute({
    method: "get",
    path,
    operationId,
    summary,
    tags: [tag],
    ...open,
    ...(params !== undefined && { request: { params } }),
    responses: { 200: { ...content, headers }, 304: { ...notModified[304], headers }, ...failures("not_found") },
  })
}
const page = (path: string, operationId: string, summary: string, type: string, params?: z.ZodObject) =>
  describe("pages", path, operationId, summary, text("The text.", type), params)
/** A page that is HTML for a request that prefers it. */
const readable = (path: string, operationId: string, summary: string, params?: z.ZodObject) =>
  describe("pages", path, operationId, summary, text("The page.", markdown, "text/html"), params)
const data = (path: string, operationId: string, summary: string, schema: z.ZodType) =>
  describe("discovery", path, operationId, summary, json("The document.", schema))
const tarball = (path: string, operationId: string, summary: string) =>
  describe("discovery", path, operationId, summary, text("The npm package.", "application/gzip"))

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

export const documentRoutes = [
  data("/openapi.json", "getOpenApi", "OpenAPI document", anyObject),
  readable("/", "getPageMap", "Page map"),
  page("/llms.txt", "getLlmsTxt", "Page map, as llms.txt", "text/plain"),
  page("/llms-full.txt", "getLlmsFullTxt", "All pages in one", "text/plain"),
  page("/skill.md", "getSkill", "Skill file of the platform", markdown),
  page("/agent.md", "getAgent", "Bootstrap file of agents", markdown),
  page("/{slug}.md", "getMarkdownPage", "Page, by its .md address", markdown, slug),
  readable("/{slug}", "getPage", "Page", slug),
  page("/skills/{name}/SKILL.md", "getSkillFile", "Skill file, by name", markdown, skillName),
  data("/client/test-vectors.json", "getClientTestVectors", "Test vectors for clients", anyObject),
  data("/.well-known/mcp.json", "getWellKnownMcp", "Descriptor, well-known path", mcpDescriptor),
  data("/.well-known/mcp/server-card.json", "getServerCard", "MCP server card", anyObject),
  data("/.well-known/agent-skills/index.json", "getSkillIndex", "Index of the skill files", skillIndex),
]

export const cliRoute = tarball("/cli/svc.tgz", "getCli", "Command-line tool, for npx")
export const clientModuleRoute = describe(
  "discovery",
  "/client/svc-client.js",
  "getClientModule",
  "Client library, as a module for web pages",
  text("The script. Its types are in `svc-client.d.ts` beside it.", "text/javascript"),
)
export const clientRoute = tarball("/client/svc-client.tgz", "getClientLibrary", "Client library, for npm install")
