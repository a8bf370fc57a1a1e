// Ten tasks from one URL, and what a reader has to read for each: counted as fetch_page counts, four characters a token.
import { afterAll, beforeAll, expect, test } from "vitest"
import { curlRequest, shellWords } from "./command-line.ts"
import { fencesOf } from "./steps.ts"
import { start } from "../start.ts"

let server: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  const urls = { SVC_API_URL: "http://api.test", SVC_RELAY_URL: "http://relay.test" }
  server = await start(urls)
})
afterAll(() => server.close())

const read = async (path: string): Promise<string> => {
  const response = await fetch(`${server.url}/${path}`)
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

const section = async (slug: string, anchor: string): Promise<string> => {
  const args = { name: "fetch_page", arguments: { slug, section: anchor, max_tokens: 20_000 } }
  const { result } = (await (await server.rpc("tools/call", args)).json()) as {
    result: { isError?: boolean; content: readonly { text: string }[] }
  }
  expect([slug, anchor, result.isError ?? false]).toEqual([slug, anchor, false])
  return result.content.map(({ text }) => text).join("\n")
}

const tokensOf = (text: string): number => Math.ceil(text.length / 4)

/** What each task sends its reader to, and what has to stand there. */
const tasks: readonly (readonly [task: string, page: string, has: RegExp])[] = [
  ["learn what this is, and sign up", "", /curl http:\/\/api\.test\/api\/agents\/signup/],
  ["check the key, find a stack", "skill.md", /\/api\/registry\n/],
  ["understand the fields of a stack", "registry#schema-of-a-stack", /nullable/],
  ["mint a token", "sessions#mint-a-token", /scope/],
  ["know why a token was refused", "sessions#what-can-go-wrong", /scope-not-allowed/],
  ["send a transaction and know what became of it", "client.md", /submit/],
  ["settle a send whose outcome is unknown", "relay#reconcile-an-unknown-submission", /lastValidBlockHeight/],
  ["rotate the key without a gap", "keys#rotate-a-key", /overlap_seconds/],
  ["make a key for a page", "keys#publishable-keys", /origin_allowlist/],
  ["act on a limit", "errors#platform-rate-limit-exceeded", /Wait/],
]

/** Codes that the pages above name without saying all; they send their reader to the code's row. */
const rows = ["platform-invalid-api-key", "platform-outcome-unknown", "relay-token-expired", "relay-insufficient_scope"]

test("ten tasks from one URL need less than 18,000 tokens of documentation, even where pages are read whole", async () => {
  const counts: string[] = []
  const whole = new Map<string, number>()
  let total = 0
  for (const [task, page, has] of tasks) {
    const [slug = "", anchor] = page.split("#")
    const text = anchor === undefined ? await read(slug) : await section(slug, anchor)
    expect(text, task).toMatch(has)
    const path = anchor === undefined ? slug : `${slug}.md`
    whole.set(path, tokensOf(anchor === undefined ? text : await read(path)))
    total += tokensOf(text)
    counts.push(`${String(tokensOf(text)).padStart(6)}  ${task} (/${page})`)
  }
  const errors = whole.get("errors.md") ?? 0
  whole.delete("errors.md")
  let looked = tokensOf(await section("errors", "platform-rate-limit-exceeded"))
  for (const row of rows) {
    const tokens = tokensOf(await section("errors", row))
    looked += tokens
    total += tokens
    counts.push(`${String(tokens).padStart(6)}  look a code up (/errors#${row})`)
  }
  // The pages, the skill and the hints of errors send to the row of one code; who takes errors.md by its URL reads all of it.
  const pages = [...whole.values()].reduce((sum, tokens) => sum + tokens, looked)
  const sums = {
    "what each task sends to": total,
    "with its pages whole": pages,
    "and errors.md whole": pages + errors,
  }
  console.log([...counts, ...Object.entries(sums).map(([of, sum]) => `${String(sum).padStart(6)}  ${of}`)].join("\n"))
  expect(pages).toBeLessThan(18_000)
  expect(total).toBeLessThan(12_000)
})

test.each(["", "llms.txt"])(
  "/%s begins with what it is, this copy's URLs and the first request, a sign-up",
  async (path) => {
    const text = await read(path)
    const beginning = text.slice(0, 2200)
    for (const url of ["http://api.test", "http://relay.test", `http://localhost:${server.port}/mcp`]) {
      expect(beginning).toContain(url)
    }
    const [command] = fencesOf(text)
    const { method, url, body } = curlRequest(shellWords(command?.text ?? "", new Map()))
    expect([method, url, body]).toEqual(["POST", "http://api.test/api/agents/signup", "{}"])
  },
)
