// What publishers write is data at every place where it leaves us: one hostile text goes through all of them.
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createLinks, renderPage, stackMarkdown, stackSchema, stacksMarkdown } from "../packages/site/src/index.ts"
import { expect, test } from "vitest"
import { CliError } from "../apps/cli/src/errors.ts"
import { failed, succeeded } from "../apps/cli/src/mcp/result.ts"
import { run } from "../apps/cli/src/run.ts"
import { serve } from "../apps/cli/test/server.ts"
import { readPage } from "../apps/docs-server/src/corpus/corpus.ts"
import { brief } from "../packages/site/browser/console/text.ts"
import { sameIn } from "../packages/site/browser/live/same-in.ts"
import { show } from "../packages/site/browser/live/values.ts"

const hostile =
  "a\u001b]0;t\u0007\u001b[2J\u001b[31m\u009b2J\u001b]8;;http://x\u0007\r\n# b\u202ec\u2066\u200b\u{e0041}`d` ](javascript:e) [f](javascript:g) <script>h</script> */ $(touch i) | \u2028'\"\\"
const steering = /(?![\n\t])\p{Cc}|[\u200b\u202a-\u202e\u2066-\u2069\u2028\u{e0041}]/u

const stack = {
  name: "evil",
  description: hostile,
  websocket_url: `wss://x/${hostile}`,
  entities: [hostile],
  version: 1,
  relay: true,
  visibility: "public",
  deprecated: { message: hostile, successor: hostile },
  schema: {
    stack_name: "evil",
    entities: [
      {
        name: hostile,
        primary_keys: [hostile],
        fields: [{ path: hostile, rust_type: hostile, nullable: true }],
        views: [{ id: hostile, mode: hostile, key_field: hostile, pipeline: [hostile] }],
      },
    ],
    types: [{ name: hostile, fields: [{ name: hostile, type: hostile }], variants: [hostile] }],
  },
}
const change = { id: 1, at: hostile, stack: hostile, kind: hostile, version: 1, message: hostile, verdict: "breaking" }

/** A service whose texts are all hostile, also its errors. */
const answer = (url: string) =>
  url.includes("/changes") ? { changes: [change], next: 1 } : /registry\/[^?]/.test(url) ? stack : [stack]

test.each([
  ["explore"],
  ["explore", "evil"],
  ["explore", "evil", hostile],
  ["types", "evil"],
  ["keys", "list"],
  ["auth", "signup"],
  ["diff", "evil"],
  ["docs", "search", "x"],
  ["nope"],
])("svc %j never controls the terminal with its output, also as JSON and in errors", async (...argv) => {
  for (const status of [200, 400]) {
    const failure = { error: hostile, code: hostile, hint: hostile, request_id: hostile, details: { path: hostile } }
    const server = await serve(({ target }) => ({
      status,
      headers: { "x-auth-ignored": "a\u009b2J" },
      body: status === 200 ? answer(target) : failure,
    }))
    for (const more of [[], ["--json"]]) {
      const [results, notes]: [string[], string[]] = [[], []]
      await run({
        argv: [...argv, ...more],
        env: { SVC_API_URL: server.url, SVC_DOCS_URL: server.url, SVC_API_KEY: "svc_ak_x" },
        copy: undefined,
        home: "/nonexistent",
        stdout: { isTTY: true, write: (text) => results.push(text) > 0, screen: () => ({ columns: 80, rows: 24 }) },
        stderr: { isTTY: true, write: (text) => notes.push(text) > 0 },
        readLine: async () => "",
        readInput: async () => new Uint8Array(),
        onInterrupt: () => () => {},
      })
      // Our own: styles, and the line of progress that is drawn again.
      expect([...results, ...notes].join("").replaceAll(/\p{Cc}\[(?:1|22|31|36|39)m|\r/gu, "")).not.toMatch(steering)
      for (const note of notes) expect(note.trimEnd()).not.toContain("\n")
      if (status === 200 && more.length > 0 && argv.join() === "explore")
        expect(JSON.parse(results.join(""))).toMatchObject({ registry: [{ description: hostile }] })
    }
  }
})

test("a tool's result shows all of the text's characters, and its data has them unchanged", () => {
  const { content, structuredContent } = succeeded({ structured: { description: hostile } })
  expect(JSON.stringify(content.map((block) => (block.type === "text" ? block.text : "")))).not.toMatch(steering)
  expect(structuredContent).toEqual({ description: hostile })
  const error = new CliError(hostile, hostile)
  expect(failed(error).content[0]).toMatchObject({ text: expect.not.stringMatching(steering) })
})

test("only the function for all output writes to the terminal", () => {
  const folder = join(import.meta.dirname, "../apps/cli/src")
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  )
  const writers = files.filter((file) =>
    /process\.std(?:out|err)|console\.\w+\(|std(?:out|err)\.write\(/.test(readFileSync(join(folder, file), "utf8")),
  )
  expect(writers).toEqual(["main.ts", "run.ts"])
})

test("a stack's page shows it as text in its place, for agents and for people", async () => {
  const urls = { baseUrl: "https://docs.example", apiUrl: "https://api.example" }
  const shown = stackSchema.parse(stack)
  const links = createLinks({ findPage: () => undefined, hasImage: () => false }, urls.baseUrl)
  for (const markdown of [stackMarkdown(shown, urls), stacksMarkdown([shown], [change], urls)]) {
    expect(markdown).not.toMatch(steering)
    // It begins no heading, ends no code and is no link.
    expect(markdown.match(/^# .*/gm)).toHaveLength(1)
    const html = await renderPage(readPage(markdown, "evil.md", "stacks/evil"), links, () => undefined)
    expect(html).not.toMatch(steering)
    expect(html).not.toMatch(/<script|href="javascript|<a[^>]*>f</)
  }
})

test("in live pages and the console the text reverses and hides nothing, and can be copied whole", () => {
  const cell = show("data", hostile, 100)
  expect(cell.full).toBe(hostile)
  for (const text of [cell.text, show("data", hostile, 1000).text, brief(hostile), brief(hostile, 30)])
    expect(text).not.toMatch(/[\u200b\u202a-\u202e\u2066-\u2069\u2028]/)
})

test("a command to copy shows all of the text and runs nothing of it", () => {
  const texts = sameIn({
    base: "https://docs.example",
    api: "https://api.example",
    stack: "evil",
    websocketUrl: `wss://x/${hostile}`,
    view: hostile,
    recordKey: hostile,
    take: 5,
  })
  for (const text of Object.values(texts)) expect(text).not.toMatch(steering)
  const words = execFileSync("bash", ["-c", `npx() { printf '%s\\0' "$@"; }; ${texts["Command line"]}`], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  }).split("\0")
  expect([words[4], words[6]]).toEqual([hostile, hostile])
})
