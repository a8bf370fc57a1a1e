import { expect, test } from "vitest"
import committed from "../openapi.json" with { type: "json" }
import { createOpenApiDocument } from "../scripts/openapi-document.ts"

test("the committed OpenAPI document is the one that is made from the schemas", () => {
  expect(committed).toEqual(JSON.parse(JSON.stringify(createOpenApiDocument("http://localhost:4001"))))
  expect(committed).toMatchObject({ openapi: "3.1.0", info: { version: "1.0.0" } })
  expect(Object.keys(committed.components.schemas)).toEqual(
    expect.arrayContaining(["McpDescriptor", "McpTool", "JsonRpcRequest", "JsonRpcResponse", "ErrorResponse"]),
  )
})
