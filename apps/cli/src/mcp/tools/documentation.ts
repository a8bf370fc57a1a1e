import { z } from "zod"
import { callTool } from "../../services/mcp.ts"
import { serviceUrl } from "../../settings/settings.ts"
import { defineTool, readOnly, type Tool } from "../tool.ts"

/** A part of a page and what else the result says of it stay within a tool's result. */
const mostTokens = 7000

const ask =
  (tool: Parameters<typeof callTool>[2]): Tool["run"] =>
  async ({ context }, args) =>
    (await callTool(context(), await serviceUrl("docs", context()), tool, Object(args))).structured

export const documentationTools = [
  defineTool({
    name: "search_docs",
    description:
      "Search the platform's documentation by the few words that matter: error codes, fields, commands. Then read a result with fetch_page.",
    input: {
      query: z.string(),
      limit: z.int().min(1).max(20).optional(),
      cursor: z.string().optional(),
    },
    output: {
      results: z.array(
        z.object({
          slug: z.string(),
          anchor: z.string(),
          title: z.string(),
          section: z.string(),
          snippet: z.string(),
        }),
      ),
      next_cursor: z.string().optional(),
      did_you_mean: z.string().optional(),
    },
    annotations: readOnly,
    run: ask("search_docs"),
  }),
  defineTool({
    name: "fetch_page",
    description:
      "Read a documentation page, or with section only one of it: pass slug and anchor of a search_docs result. Long pages go on with next_cursor.",
    input: {
      slug: z.string(),
      section: z.string().optional(),
      cursor: z.string().optional(),
      max_tokens: z.int().min(1).max(mostTokens).default(mostTokens),
    },
    output: {
      slug: z.string(),
      title: z.string(),
      content: z.string(),
      truncated: z.boolean(),
      next_cursor: z.string().optional(),
    },
    annotations: readOnly,
    run: ask("fetch_page"),
  }),
]
