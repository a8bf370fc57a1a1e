import { expect, test } from "vitest"
import committed from "../openapi.json" with { type: "json" }
import { document } from "../scripts/openapi.ts"

test("openapi.json is what the schemas say; `pnpm openapi` writes it anew", () => {
  expect(committed).toEqual(JSON.parse(JSON.stringify(document)))
  expect(Object.keys(committed.components.schemas)).toEqual(
    expect.arrayContaining(["McpDescriptor", "McpTool", "JsonRpcRequest", "JsonRpcResponse", "ErrorResponse"]),
  )
})
