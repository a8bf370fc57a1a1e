import fc from "fast-check"
import { anyCharacter, postJson, rawExchange } from "@svc/testing"
import { expect, test } from "vitest"
import { runs } from "./fuzz-runs.ts"
import { modernCall, serverOfFile } from "./start.ts"

const server = serverOfFile()

const oneOf = (words: string) => fc.constantFrom(...words.split(" "))

const post = (body: string | Uint8Array, headers?: Record<string, string>): Promise<Response> =>
  postJson(`${server.url}/mcp`, body, headers)

/** Sends bytes as they are and gives the status that came back; 0 when the server just closed. */
const raw = async (bytes: string | Uint8Array): Promise<number> =>
  Number(/^HTTP\/1\.1 (\d+)/.exec(await rawExchange(server.port, bytes))?.[1] ?? 0)

test("no path returns a 5xx, or a file that isn't a page", async () => {
  const part = fc.oneof(
    oneOf(String.raw`.. . %2e%2e %2f % %zz %00 \ mcp skill.md content package.json ? # * ;`),
    fc.string({ unit: "grapheme-ascii" }),
    fc.string({ unit: anyCharacter }).map(encodeAll),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      const path = `/${parts.join("/")}`.replace(/[^!-~]/g, "")
      const status = await raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      expect([200, 304, 400, 404, 405]).toContain(status)
    }),
    runs(20_000),
  )
})

const encodeAll = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

test("no body returns a 5xx; a body that isn't JSON-RPC gets an error that says so", async () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => new Uint8Array(bytes)),
    fc.string({ unit: anyCharacter }),
    fc.json(),
    fc
      .record(
        {
          jsonrpc: fc.constantFrom("2.0", "1.0", 2),
          id: fc.jsonValue(),
          method: fc.jsonValue(),
          params: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value)),
  )
  await fc.assert(
    fc.asyncProperty(anything, async (body) => {
      const response = await post(body)
      expect([200, 202, 400]).toContain(response.status)
      if (response.status === 400) expect(await response.json()).toMatchObject({ error: { code: "invalid_request" } })
    }),
    runs(50_000),
  )
})

const method = fc.oneof(
  oneOf(
    "initialize ping tools/list tools/call resources/read resources/list prompts/get completion/complete server/discover " +
      "subscriptions/unlisten __proto__ constructor logging/setLevel tasks/get",
  ),
  fc.string(),
)
const params = fc.oneof(
  fc.dictionary(oneOf("name uri arguments cursor _meta ref argument protocolVersion __proto__ task"), fc.jsonValue()),
  fc.record({
    name: fc.constantFrom("search_docs", "fetch_page"),
    arguments: fc.dictionary(
      oneOf("query slug limit cursor section max_tokens"),
      fc.oneof(fc.jsonValue(), fc.string({ unit: anyCharacter, minLength: 1 })),
    ),
  }),
)

test("any well-formed request gets a JSON-RPC response with its id, in every revision", async () => {
  await fc.assert(
    fc.asyncProperty(
      method,
      params,
      fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
      fc.boolean(),
      async (name, given, id, modern) => {
        const call = modernCall(name, given, "search_docs")
        const headers = modern
          ? Object.fromEntries(
              Object.entries(call.headers).map(([key, value]) => [key, value.replaceAll(/[^\x21-\x7e]/g, "?")]),
            )
          : {}
        const response = await post(
          JSON.stringify({ jsonrpc: "2.0", id, method: name, params: modern ? call.params : given }),
          headers,
        )
        expect(modern ? [200, 400, 404] : [200]).toContain(response.status)
        const answer = (await response.json()) as Record<string, unknown>
        expect(answer["jsonrpc"]).toBe("2.0")
        expect(JSON.stringify(answer["id"])).toBe(JSON.stringify(id))
        expect("result" in answer).not.toBe("error" in answer)
      },
    ),
    runs(50_000),
  )
})

test("no headers return a 5xx", async () => {
  const name = oneOf(
    "accept accept-encoding if-none-match mcp-protocol-version mcp-method mcp-name mcp-session-id origin x-forwarded-for " +
      "content-type x-request-id last-event-id content-encoding range expect",
  )
  const value = fc.oneof(
    fc.string({ unit: "grapheme-ascii" }),
    oneOf("* */* gzip text/event-stream;q=0.1,a 2026-07-28 2025-11-25 =?base64?!?= 100-continue"),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, value),
      fc.constantFrom("GET /mcp", "GET /llms.txt", "POST /mcp", "HEAD /mcp", "DELETE /mcp", "BREW /x"),
      async (headers, line) => {
        const body = line.startsWith("POST") ? '{"jsonrpc":"2.0","id":1,"method":"ping"}' : ""
        // A stream would stay open: none is asked for here.
        const lines = Object.entries(headers)
          .filter(([, text]) => !/event-stream(?!;q=0\.1)/.test(text))
          .map(([key, text]) => `${key}: ${text.trim()}\r\n`)
        const status = await raw(
          `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n${lines.join("")}\r\n${body}`,
        )
        expect(status).toBeLessThan(500)
      },
    ),
    runs(20_000),
  )
})
