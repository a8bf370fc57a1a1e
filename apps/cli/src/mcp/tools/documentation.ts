import { defineTool, fetchPage, type Product, searchDocs } from "@svc/mcp"
import { z } from "zod"
import { callTool } from "../../services/mcp.ts"
import { serviceUrl } from "../../settings/settings.ts"
import { type Call, readOnly, type Tool } from "../tool.ts"

/** A part of a page and what else the result says of it stay within a tool's result. */
const mostTokens = 7000

const product: Product = { name: "svc", about: "" }
const ask =
  (name: Parameters<typeof callTool>[2]) =>
  async ({ context }: Call, args: object) =>
    callTool(context(), await serviceUrl("docs", context()), name, Object(args))

/** As the documentation server lists it, but for what a model can tell from the names of the result. */
const terse = ({ listed: { title: _title, outputSchema, ...listed }, ...tool }: Tool): Tool => {
  const text = JSON.stringify(outputSchema, (name, value: unknown) => (name === "description" ? undefined : value))
  return { ...tool, listed: { ...listed, annotations: readOnly, outputSchema: JSON.parse(text) } }
}

export const documentationTools = [
  defineTool({ ...searchDocs, description: searchDocs.describe(product) }, ask("search_docs")),
  defineTool(
    {
      ...fetchPage,

      description: fetchPage.describe(product),
      input: fetchPage.input.extend({ max_tokens: z.int().min(1).max(mostTokens).default(mostTokens) }),
    },
    ask("fetch_page"),
  ),
].map(terse)
