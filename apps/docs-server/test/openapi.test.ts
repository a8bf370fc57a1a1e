import { expect, test, vi } from "vitest"
import committed from "../openapi.json" with { type: "json" }

test("openapi.json is what the schemas say; `pnpm openapi` writes it anew", async () => {
  // Only schemas made after zod was extended for documents can be named there, and another file may have made them before.
  vi.resetModules()
  const { document } = await import("../scripts/openapi.ts")
  expect(committed).toEqual(JSON.parse(JSON.stringify(document)))
  expect(Object.keys(committed.components.schemas)).toEqual(
    expect.arrayContaining(["McpDescriptor", "McpTool", "JsonRpcRequest", "JsonRpcResponse", "ErrorResponse"]),
  )
})
