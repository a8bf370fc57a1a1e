// What publishers write is data at every place where it leaves us: one hostile text goes through all of them.
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { PassThrough } from "node:stream"
import {
  createLinks,
  longestStackPage,
  plainText,
  renderPage,
  stackMarkdown,
  stackSchema,
  stacksMarkdown,
} from "../packages/site/src/index.ts"
import { expect, test } from "vitest"
import { CliError } from "../apps/cli/src/errors.ts"
import { failed, succeeded } from "../apps/cli/src/mcp/result.ts"
import { createLines } from "../apps/cli/src/mcp/stdio.ts"
import { noteDeprecated } from "../apps/cli/src/explore/stack.ts"
import { run } from "../apps/cli/src/run.ts"
import { serve } from "../apps/cli/test/server.ts"
import { readPage } from "../apps/docs-server/src/corpus/corpus.ts"
import { eventOf } from "../packages/http/src/event-streams.ts"
import { brief } from "../packages/site/browser/console/text.ts"
import { sameIn } from "../packages/site/browser/live/same-in.ts"
import { show, timeOf } from "../packages/site/browser/live/values.ts"

const hostile =
  "a\u001b]0;t\u0007\u001b[2J\u001b[31m\u009b2J\u001b]8;;http://x\u0007\r\n# b\u202ec\u2066\u200b\u{e0041}&#x202e;&#xe0041;&ZeroWidthSpace;`d` ](javascript:e) [f](javascript:g) <script>h</script> */ $(touch i) | \u2028'\"\\"
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

const runtimeOf = (url: string, print: (text: string) => void, note: (text: string) => void) => ({
  env: { SVC_API_URL: url, SVC_DOCS_URL: url, SVC_API_KEY: "svc_ak_x" },
  copy: undefined,
  home: "/nonexistent",
  stdout: {
    isTTY: true,
    write: (text: string) => {
      print(text)
      return true
    },
    screen: () => ({ columns: 80, rows: 24 }),
  },
  stderr: { isTTY: true, write: note },
  readLine: async () => "",
  readInput: async () => new Uint8Array(),
  onInterrupt: () => () => {},
})

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
      const runtime = runtimeOf(
        server.url,
        (text) => results.push(text),
        (text) => notes.push(text),
      )
      await run({ ...runtime, argv: [...argv, ...more] })
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

test("each message of svc mcp is one line of visible characters, also for clients that end lines at other signs", async () => {
  const output = new PassThrough()
  const { transport } = createLines(new PassThrough(), output)
  const read = createInterface({ input: output })[Symbol.asyncIterator]()
  const message = { jsonrpc: "2.0", id: "1", result: { structuredContent: { description: hostile } } } as const
  await transport.send(message)
  const { value: line } = await read.next()
  expect(line).not.toMatch(steering)
  expect(JSON.parse(line ?? "")).toEqual(message)
})

test("an event of the platform's streams has its data on one line, whatever a client takes for the end of one", () => {
  const event = new TextDecoder().decode(eventOf(1, "published", { message: hostile }))
  expect(event).not.toMatch(steering)
  expect(JSON.parse(event.split("\n")[2]?.replace("data: ", "") ?? "")).toEqual({ message: hostile })
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
  for (const markdown of [
    stackMarkdown(shown, urls),
    stacksMarkdown({ stacks: [shown], isWhole: true, changes: [change] }, urls),
  ]) {
    expect(markdown).not.toMatch(steering)
    // It begins no heading, ends no code and is no link.
    expect(markdown.match(/^# .*/gm)).toHaveLength(1)
    const page = readPage(markdown, "evil.md", "stacks/evil")
    expect(page.description + plainText(markdown.slice(page.bodyStart))).not.toMatch(steering)
    const html = await renderPage(page, links, () => undefined)
    expect(html).not.toMatch(steering)
    expect(html).not.toMatch(/<script|href="javascript|<a[^>]*>f</)
  }
})

test.each([":::danger a", "- a", "+ a", "1. a", "2) a", "---", "===", "[!NOTE] a", "a {#b}", "a & b &amp; c"])(
  "a stack's page shows a description and names of %j as a paragraph and headings",
  async (given) => {
    const urls = { baseUrl: "https://docs.example", apiUrl: "https://api.example" }
    const [entity] = stack.schema.entities
    const schema = { entities: [{ ...entity, name: given }], types: [] }
    const shown = stackSchema.parse({ name: "evil", description: given, schema })
    const links = createLinks({ findPage: () => undefined, hasImage: () => false }, urls.baseUrl)
    const page = readPage(stackMarkdown(shown, urls), "evil.md", "stacks/evil")
    expect(page.description).toBe(`The stack evil: ${given}. Entities: ${given}.`)
    const html = await renderPage(page, links, () => undefined)
    const text = given.replaceAll("&", "&amp;")
    expect(html).toContain(`<p>${text}</p>`)
    expect(html).toMatch(new RegExp(`<h2 id="[\\w-]+">${RegExp.escape(text)} <a`))
  },
)

test("a stack's page costs what it shows, however much its owner wrote", () => {
  const urls = { baseUrl: "https://docs.example", apiUrl: "https://api.example" }
  const shown = stackSchema.parse(stack)
  const many = <T>(one: T): T[] => Array<T>(5000).fill(one)
  const entities = shown.schema.entities.flatMap((entity) => many({ ...entity, fields: entity.fields.flatMap(many) }))
  const large = { ...shown, schema: { entities } }
  const list = { stacks: many(large), isWhole: true, changes: [] }
  for (const markdown of [stackMarkdown(large, urls), stacksMarkdown(list, urls)]) {
    expect(markdown.length).toBeLessThan(longestStackPage + 2000)
    expect(markdown).toMatch(
      /\|\n\n> The rest has no room here\. Everything is at <https:\/\/api\.example\/api\/registry\S*>\.\n$/,
    )
  }
})

test("in live pages and the console the text reverses and hides nothing, and can be copied whole", () => {
  const cell = show("data", hostile, 100)
  expect(cell.full).toBe(hostile)
  for (const text of [cell.text, show("data", hostile, 1000).text, brief(hostile), brief(hostile, 30)])
    expect(text).not.toMatch(/[\u200b\u202a-\u202e\u2066-\u2069\u2028]/)
})

/** The words that a shell gives to a program of this name when a command is pasted. */
const wordsOf = (program: string, command = ""): string[] =>
  execFileSync("bash", ["-c", `${program}() { printf '%s\\0' "$@"; }; ${command}`], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  })
    .split("\0")
    .slice(0, -1)

test("a field's name of any length is read at once, so that no stream stops a page", () => {
  for (const [name, isTime] of [
    ["_at", true],
    [".time", true],
    ["_", false],
  ] as const)
    expect(timeOf(`${"_".repeat(1_000_000)}${name}`, 1_700_000_000) !== undefined).toBe(isTime)
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
  const words = wordsOf("npx", texts["Command line"])
  expect([words[4], words[6]]).toEqual([hostile, hostile])
})

test("a next step of svc that names the text runs nothing of it", async () => {
  // Longer names aren't suggested.
  const short = hostile.slice(-60)
  const entity = { name: short, primary_keys: [], fields: [], views: [{ id: short }] }
  const server = await serve(() => ({ body: { ...stack, schema: { entities: [entity] } } }))
  const said: string[] = []
  const note = (text: string): void => void said.push(text)
  for (const argv of [
    ["explore", "evil", "b"],
    ["watch", "evil", "b"],
  ])
    await run({ ...runtimeOf(server.url, () => {}, note), argv })
  noteDeprecated({ note }, { name: "evil", deprecated: { ...stack.deprecated, since: "" } })
  const commands = said.map(
    (text) => /(svc (?:explore|watch) .*?)(?: \(\w+-not-found\)|, its successor\. .*)?\s*$/s.exec(text)?.[1] ?? "",
  )
  for (const command of commands) expect(command).not.toMatch(steering)
  expect(commands.map((command) => wordsOf("svc", command))).toEqual([
    ["explore", "evil", short],
    ["watch", "evil", short],
    ["explore", hostile],
  ])
})
