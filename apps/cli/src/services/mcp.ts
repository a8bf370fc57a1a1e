import type { FetchPageArguments, FetchPageResult, SearchDocsArguments, SearchDocsResult } from "@svc/client"
import { isObject, parseJson, textOf } from "@svc/common/json-object"
import manifest from "../../package.json" with { type: "json" }
import type { Context } from "../command.ts"
import { CliError } from "../errors.ts"
import { call, failureOf } from "./api.ts"

// The stateless revision: each call is one request, without a session.
const revision = "2026-07-28"
const meta = "io.modelcontextprotocol/"

/** The tools of the documentation server: what they take and return. */
type Tools = {
  readonly search_docs: readonly [args: SearchDocsArguments, result: SearchDocsResult]
  readonly fetch_page: readonly [args: FetchPageArguments, result: FetchPageResult]
}

/** The result of a tool's call, as MCP defines it. */
type ToolResult = {
  readonly isError?: boolean
  readonly content?: readonly { readonly text?: string }[]
  readonly structuredContent?: unknown
}

/** A message of JSON-RPC that responds to a call. */
type Response = { readonly error?: { readonly code: number; readonly message: string }; readonly result?: ToolResult }

/** Calls a tool of the documentation server. Throws a tool's own error with its text. */
export const callTool = async <Name extends keyof Tools>(
  { env }: Pick<Context, "env">,
  base: string,
  name: Name,
  args: Tools[Name][0],
): Promise<{ readonly structured: Tools[Name][1]; readonly text: string }> => {
  const method = "tools/call"
  const client = {
    [`${meta}protocolVersion`]: revision,
    [`${meta}clientInfo`]: { name: "svc", version: manifest.version },
    [`${meta}clientCapabilities`]: {},
  }
  const answer = await call({ service: "docs", base, env }, "/mcp", {
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
  if (!isObject(body) || body["jsonrpc"] !== "2.0") throw failureOf(answer)
  const { error, result }: Response = body
  if (isObject(error)) {
    const reason = `${error.message} (${error.code})`
    throw new CliError("mcp-error", `The documentation server returned an error: ${reason}`)
  }
  if (!isObject(result)) throw failureOf(answer)
  const { isError, content = [], structuredContent }: ToolResult = result
  const text = content.map((block) => block.text ?? "").join("\n")
  if (isError === true) {
    const fault = parseJson(text)
    const [code = "", message = "", hint = ""] = ["code", "message", "hint"].map((member) => textOf(fault, member))
    throw code === "" ? new CliError("tool-error", text) : new CliError(code, message, { hint })
  }
  if (!isObject(structuredContent)) {
    throw new CliError("unexpected-answer", `The response of ${base}/mcp to ${name} has no structured content.`)
  }
  return { structured: structuredContent as Tools[Name][1], text }
}
