// What the reference shows beside curl: the same call of svc-client and of the command line.
import { execFileSync } from "node:child_process"
import { runInNewContext } from "node:vm"
import { createPlatform, createRelay } from "@svc/client"
import { expect, test } from "vitest"
import { styleOf } from "../apps/cli/src/output/style.ts"
import { readCall } from "../apps/cli/src/usage/program.ts"
import calls from "../apps/docs-server/scripts/reference/calls.json" with { type: "json" }
import { openApiDocument, operationsOf } from "../apps/docs-server/scripts/reference/operation-page.ts"
import platformDocument from "../apps/platform-api/openapi.json" with { type: "json" }
import relayDocument from "../apps/relay/openapi.json" with { type: "json" }

/** Method and path of each operation, as a pattern. */
const operations = new Map(
  Object.entries({ platform: platformDocument, relay: relayDocument }).flatMap(([service, document]) =>
    operationsOf(openApiDocument.parse(document)).map(({ id, method, path }): [string, RegExp] => [
      `${service}/${id}`,
      new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    ]),
  ),
)

const rows: readonly [string, { readonly js?: string; readonly cli?: string }][] = Object.entries(calls)

test.each(rows.flatMap(([id, { js }]) => (js === undefined ? [] : [[id, js] as const])))(
  "svc-client makes the request of %s",
  async (id, js) => {
    const sent: string[] = []
    const fetch: typeof globalThis.fetch = async (url, init) => {
      sent.push(`${init?.method ?? "GET"} ${new URL(url instanceof Request ? url.url : url).pathname}`)
      return Response.json({}, { status: 400 })
    }
    const platform = createPlatform({ apiUrl: "http://service.test", fetch })
    const relay = createRelay({ relayUrl: "http://service.test", session: { token: async () => "t" }, fetch })
    const oneSignature = btoa(`\u0001${"\u0001".repeat(64)}message`)
    const known = { platform, relay, transaction: oneSignature, message: oneSignature, signature: "1".repeat(64) }
    const call: unknown = runInNewContext(`(async () => { ${js} })()`, known)
    await Promise.resolve(call).catch(() => {})
    expect(sent[0]).toMatch(operations.get(id) ?? /^no such operation$/)
  },
)

test.each(rows.flatMap(([id, { cli }]) => (cli === undefined ? [] : [[id, cli] as const])))(
  "the command of %s exists in the tool",
  (id, cli) => {
    expect(operations.has(id)).toBe(true)
    const printed = execFileSync("bash", ["-c", `svc() { printf '%s\\0' "$@"; }; ${cli}`], { encoding: "utf8" })
    const argv = printed.replaceAll("{stream_url}", "wss://stream.test").split("\0").slice(0, -1)
    const style = styleOf({}, false, undefined)
    expect(readCall({ argv, version: "", style, write: () => {} })).toBeDefined()
  },
)
