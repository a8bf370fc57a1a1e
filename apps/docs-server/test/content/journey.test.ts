// Ten tasks from one URL, and what a reader has to read for each: counted as fetch_page counts, four characters a token.
import { countTokens } from "@svc/site"
import { expect, test } from "vitest"
import { serverOfFile } from "../start.ts"

const server = serverOfFile(() => ({ SVC_API_URL: "http://api.test", SVC_RELAY_URL: "http://relay.test" }))

const read = async (path: string): Promise<string> => {
  const response = await fetch(`${server.url}/${path}`)
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

type ToolResult = { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] }

/** A tool's whole result, as a client hands it to its model: the text, and what stands beside it. */
const call = async (name: string, args: object): Promise<ToolResult> => {
  const { result } = (await (await server.rpc("tools/call", { name, arguments: args })).json()) as {
    result: ToolResult
  }
  expect([args, result.isError ?? false]).toEqual([args, false])
  return result
}
const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text).join("\n")

/** What is read for a task: a page by its path, a section by `slug#anchor`, or a question asked over MCP. */
const readOne = async (what: string): Promise<string> => {
  const [slug = "", section] = what.split("#")
  if (what.endsWith("?")) return textOf(await call("search_docs", { query: what, limit: 3 }))
  return section === undefined ? read(slug) : textOf(await call("fetch_page", { slug, section }))
}

/** Each task with all that it sends its reader to, and what has to stand there. */
const tasks: readonly (readonly [task: string, reads: readonly string[], ...has: RegExp[]])[] = [
  ["learn what this is, and sign up", ["", "skill.md"], /curl http:\/\/api\.test\/api\/agents\/signup/],
  [
    "read all stacks, and the fields of one entity",
    ["registry#list-stacks", "registry#schema-of-a-stack"],
    /api\.test\/api\/registry/,
    /nullable/,
  ],
  ["make a key for a page", ["keys#publishable-keys", "sessions#from-a-browser"], /origin_allowlist/],
  ["rotate the key without a gap", ["keys#rotate-a-key", "errors#platform-key-replaced"], /overlap_seconds/],
  [
    "mint a session token, and verify one",
    ["sessions#mint-a-token", "sessions#scopes", "sessions#verify-a-token"],
    /aud/,
  ],
  ["pay once, though the program is killed", ["skills/svc-consume/SKILL.md", "payments.md"], /submitOnce\(PAYMENT_ID/],
  [
    "install the tool, and lock the versions that a project is written for",
    ["agent.md", "command-line#read-the-registry", "command-line#versions-and-what-breaks-you"],
    /svc\.tgz/,
    /svc lock/,
  ],
  ["types in two languages", ["registry#types-for-your-program"], /typescript/, /json-schema/],
  [
    "five questions over MCP",
    [
      "how large may a transaction be?",
      "how long do I wait when I am rate limited?",
      "is a timed out send safe to repeat?",
      "how do I get notified of breaking changes?",
      "which Solana networks are supported?",
    ],
    /1,232/,
    /Retry-After/,
    /notifications/,
  ],
  ["publish a stack of one's own", ["publishing.md"], /websocket_url/],
]

test("ten tasks from one URL need less than 25,000 tokens of documentation", async () => {
  const counts: string[] = []
  let total = 0
  for (const [task, reads, ...has] of tasks) {
    const texts: string[] = []
    for (const what of reads) texts.push(await readOne(what))
    for (const pattern of has) expect(texts.join("\n"), task).toMatch(pattern)
    const tokens = texts.reduce((sum, text) => sum + countTokens(text.length), 0)
    total += tokens
    counts.push(`${String(tokens).padStart(6)}  ${task} (${reads.map((what) => `/${what}`).join(", ")})`)
  }
  console.log([...counts, `${String(total).padStart(6)}  all ten`].join("\n"))
  expect(total).toBeLessThan(25_000)
})

test.each(["", "llms.txt"])("/%s starts with this copy's URLs", async (path) => {
  const beginning = (await read(path)).slice(0, 2200)
  for (const url of ["http://api.test", "http://relay.test", `http://localhost:${server.port}/mcp`]) {
    expect(beginning).toContain(url)
  }
})
