import { processRuntime } from "@svc/program"
import { postJson } from "@svc/testing"
import { onTestFinished } from "vitest"
import { beforeTests } from "../../../test/start-service.ts"
import { startService } from "../src/service.ts"

/** A real server on a free loopback port. */
export const start = async (env: Readonly<Record<string, string>> = {}) => {
  const settings = { PORT: "0", SVC_LOG_LEVEL: "silent", SVC_API_URL: "http://127.0.0.1:9" }
  const server = await startService(processRuntime({ ...settings, ...env }))
  const url = `http://127.0.0.1:${server.port}`
  const rpc = (method: string, params?: object, more: object = {}, headers: Record<string, string> = {}) =>
    postJson(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method, params, ...more }, headers)
  return { ...server, url, rpc }
}

/** The same, until the test is over. */
export const testServer = async (...given: Parameters<typeof start>) => {
  const server = await start(...given)
  onTestFinished(server.close)
  return server
}

/** The same, for all tests of a file. */
export const serverOfFile = (env: () => Readonly<Record<string, string>> = () => ({})) =>
  beforeTests(
    () => start(env()),
    ({ close }) => close(),
  )

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
