import { expect, test } from "vitest"
import { readMessage, writtenId } from "./message.ts"

const read = (value: unknown) => readMessage(value)
const request = (members: object) => read({ jsonrpc: "2.0", id: 1, method: "tools/call", ...members })

test("null means absent wherever MCP has an optional member, except in a tool's arguments", () => {
  expect(request({ params: null })).toEqual({
    kind: "request",
    request: { id: 1, method: "tools/call", params: undefined },
  })
  const params = {
    name: "x",
    _meta: null,
    arguments: { a: null },
    context: { arguments: null, more: [null, { b: null }] },
  }
  expect(request({ params })).toMatchObject({
    request: { params: { name: "x", arguments: { a: null }, context: { more: [null, {}] } } },
  })
  expect(request({ params: { name: "x", arguments: null } })).toMatchObject({ request: { params: { name: "x" } } })
})

test("an empty array counts as the empty object that PHP writes so", () => {
  expect(request({ params: [] })).toMatchObject({ request: { params: undefined } })
  expect(request({ params: { name: "x", arguments: [], _meta: [], context: { arguments: [] } } })).toEqual({
    kind: "request",
    request: { id: 1, method: "tools/call", params: { name: "x", context: {} } },
  })
  const clientCapabilities = "io.modelcontextprotocol/clientCapabilities"
  const sent = { capabilities: { roots: [], experimental: [] }, clientInfo: { name: "x", icons: [] } }
  expect(request({ params: { ...sent, _meta: { [clientCapabilities]: [] } } })).toMatchObject({
    request: { params: { capabilities: {}, clientInfo: { name: "x" }, _meta: { [clientCapabilities]: {} } } },
  })
  for (const capabilities of [[], null])
    expect(request({ params: { capabilities } })).toMatchObject({ request: { params: { capabilities: {} } } })
  expect(request({ params: { arguments: ["a"] } })).toMatchObject({ request: { params: { arguments: ["a"] } } })
})

test("arguments as JSON text count as the object", () => {
  expect(request({ params: { name: "x", arguments: '{"a":1}' } })).toMatchObject({
    request: { params: { arguments: { a: 1 } } },
  })
  expect(request({ params: { name: "x", arguments: "a" } })).toMatchObject({ request: { params: { arguments: "a" } } })
})

test.each([
  [[], /Batches/],
  [[{ jsonrpc: "2.0", id: 1, method: "ping" }], /Batches/],
  [1, /JSON object/],
  [null, /JSON object/],
  [{ id: 1, method: "ping" }, /"jsonrpc": "2.0"/],
  [{ jsonrpc: "1.0", id: 1, method: "ping" }, /"jsonrpc": "2.0"/],
  [{ jsonrpc: "2.0", id: {}, method: "ping" }, /id must be/],
  [{ jsonrpc: "2.0", id: true, method: "ping" }, /id must be/],
  [{ jsonrpc: "2.0", id: Infinity, method: "ping" }, /id must be/],
  [{ jsonrpc: "2.0", id: 1 }, /method must be/],
  [{ jsonrpc: "2.0", id: 1, method: 1 }, /method must be/],
  [{ jsonrpc: "2.0", method: 1 }, /method must be/],
  [{ jsonrpc: "2.0", id: 1, method: "ping", params: [1] }, /params must be/],
  [{ jsonrpc: "2.0", id: 1, method: "ping", params: "x" }, /params must be/],
  [{ jsonrpc: "2.0", result: {} }, /response has an id/],
])("%j isn't a message, and the reason says why", (value, reason) => {
  expect(read(value)).toEqual({ kind: "invalid", reason: expect.stringMatching(reason) })
})

test("notifications and responses get no response", () => {
  for (const message of [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", method: "x", params: { a: 1 } },
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: null, error: { code: 1, message: "x" } },
  ])
    expect(read(message)).toEqual({ kind: "silent", message })
})

test.each([
  ['{"id":1.0}', "1.0"],
  ['{"id":12345678901234567890,"a":{"id":1}}', "12345678901234567890"],
  ['{"id":-0}', "-0"],
  [String.raw`{"id":"\u00e9"}`, '"é"'],
  ['{"id":null}', "null"],
  ['{"id":[1]}', "null"],
  ['{"id":1e999}', "null"],
  ["[]", "null"],
])("the id in %s is written as %s", (text, id) => {
  expect(writtenId(text, JSON.parse(text))).toBe(id)
})
