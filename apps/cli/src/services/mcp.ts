import { isObject, type JsonObject } from "@svc/common/json-object"
import manifest from "../../package.json" with { type: "json" }
import { CliError } from "../errors.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { call, failureOf } from "./api.ts"

// The stateless revision: each call is one request, without a session.
const revision = "2026-07-28"
const meta = "io.modelcontextprotocol/"

export type ToolAnswer = { readonly structured: JsonObject; readonly text: string }

const textBlocks = (result: JsonObject): string =>
  listOf(result, "content")
    .map((block) => textOf(block, "text"))
    .join("\n")

/** Calls a tool of the documentation server. Throws a tool's own error with its text. */
export const callTool = async (docsUrl: string, name: string, args: JsonObject): Promise<ToolAnswer> => {
  const method = "tools/call"
  const client = {
    [`${meta}protocolVersion`]: revision,
    [`${meta}clientInfo`]: { name: "svc", version: manifest.version },
    [`${meta}clientCapabilities`]: {},
  }
  const answer = await call("docs", docsUrl, "/mcp", {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      "mcp-method": method,
      "mcp-name": name,
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { name, arguments: args, _meta: client } },
  })
  const { body } = answer
  if (!isObject(body) || body["jsonrpc"] !== "2.0") throw failureOf(answer, docsUrl)
  const { error, result } = body
  if (isObject(error)) {
    const reason = `${textOf(error, "message")} (${textOf(error, "code")})`
    throw new CliError("mcp-error", `The documentation server returned an error: ${reason}`)
  }
  if (!isObject(result)) throw failureOf(answer, docsUrl)
  if (result["isError"] === true) throw new CliError("tool-error", textBlocks(result))
  const structured = result["structuredContent"]
  if (!isObject(structured)) {
    throw new CliError("unexpected-answer", `The response of ${docsUrl}/mcp to ${name} has no structured content.`)
  }
  return { structured, text: textBlocks(result) }
}
