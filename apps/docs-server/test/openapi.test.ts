import { expect, test } from "vitest"
import committed from "../openapi.json" with { type: "json" }

test("schemas that several operations share have a name", () => {
  expect(Object.keys(committed.components.schemas)).toEqual(
    expect.arrayContaining(["McpDescriptor", "McpTool", "JsonRpcRequest", "JsonRpcResponse", "ErrorResponse"]),
  )
})
