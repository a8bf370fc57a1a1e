import { join } from "node:path"
import { startProcess } from "@svc/testing"

/** The server, or another file of this folder, in a process of its own, logging to a pipe as in production. */
export const start = async (file: string, env: Readonly<Record<string, string>> = {}) => {
  const program = startProcess(process.execPath, [join(import.meta.dirname, file)], { env: { PORT: "0", ...env } })
  const [, port = ""] = await program.waitFor(/"port":(\d+)/)
  return { program, url: `http://127.0.0.1:${port}` }
}

export const search = (query: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search_docs", arguments: { query } } })

export const post = (url: string, body: string): Promise<Response> =>
  fetch(`${url}/mcp`, { method: "POST", headers: { "content-type": "application/json" }, body })
