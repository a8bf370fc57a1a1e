import { expect, test } from "vitest"
import committed from "../openapi.json" with { type: "json" }

test("a descriptor and a tool require only what every client needs", () => {
  const { McpDescriptor, McpTool, JsonRpcRequest } = committed.components.schemas
  expect(McpDescriptor.required).toEqual(["name", "endpoint", "tools"])
  expect(McpTool.required).toEqual(["name", "description", "inputSchema"])
  expect(JsonRpcRequest.properties.jsonrpc).toMatchObject({ const: "2.0" })
})
