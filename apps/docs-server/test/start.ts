import { randomUUID } from "node:crypto"
import type { McpServerFactory } from "@modelcontextprotocol/server"
import { createLogger } from "@svc/http"
import { readConfig } from "../src/config.ts"
import { startServer } from "../src/server.ts"

const log = await createLogger({ level: "silent", pretty: false, service: "test" })

/** A real server on a free loopback port. */
export const start = async (env: Readonly<Record<string, string>> = {}, factory?: McpServerFactory) => {
  const config = readConfig({ PORT: "0", ...env })
  const world = { log, now: () => performance.now(), randomId: randomUUID }
  const server = await startServer(config, "1.0.0", world, factory)
  const url = `http://127.0.0.1:${server.port}`
  const rpc = (method: string, params?: object, more: object = {}, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, ...more }),
    })
  return { ...server, url, rpc, config }
}

/** A request of MCP 2026-07-28, with all that the revision wants. */
export const modernCall = (method: string, params: Record<string, unknown> = {}, name?: string) => ({
  params: {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    },
  },
  headers: {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name !== undefined && { "mcp-name": name }),
  } as Record<string, string>,
})
