import manifest from "../../package.json" with { type: "json" }
import { call, failureOf } from "./api.ts"
import { CliError } from "../errors.ts"
import { isObject, type JsonObject } from "@svc/common/json-object"
import { listOf, textOf } from "../output/json-value.ts"

// The stateless revision: one request a call, no session to open and close.
const revision = "2026-07-28"
const meta = "io.modelcontextprotocol/"

export type ToolAnswer = { readonly structured: JsonObject; readonly text: string }

const textBlocks = (result: JsonObject): string =>
  listOf(result, "content")
    .map((block) => textOf(block, "text"))
    .join("\n")

/** Calls a tool of the documentation server; a tool's own error is thrown with its text. */
export const callTool = async (docsUrl: string, name: string, args: JsonObject): Promise<ToolAnswer> => {
  const answer = await call(
    `${docsUrl}/mcp`,
    { name: "The documentation", url: docsUrl, flag: "docs-url", variable: "SVC_DOCS_URL" },
    {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": revision,
        "mcp-method": "tools/call",
        "mcp-name": name,
      },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name,
          arguments: args,
          _meta: {
            [`${meta}protocolVersion`]: revision,
            [`${meta}clientInfo`]: { name: "svc", version: manifest.version },
            [`${meta}clientCapabilities`]: {},
          },
        },
      },
    },
  )
  const { body } = answer
  if (!isObject(body) || body["jsonrpc"] !== "2.0") throw failureOf(answer, docsUrl)
  const { error, result } = body
  if (isObject(error)) {
    throw new CliError(
      "mcp-error",
      `The documentation answered: ${textOf(error, "message")} (${textOf(error, "code")})`,
    )
  }
  if (!isObject(result)) throw failureOf(answer, docsUrl)
  if (result["isError"] === true) throw new CliError("tool-error", textBlocks(result))
  const structured = result["structuredContent"]
  if (!isObject(structured)) {
    throw new CliError("unexpected-answer", `${docsUrl}/mcp answered ${name} without structured content.`)
  }
  return { structured, text: textBlocks(result) }
}
