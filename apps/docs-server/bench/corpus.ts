import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { BenchmarkTable } from "@svc/testing"
import { loadCorpus } from "../src/corpus.ts"
import { createSearch } from "../src/search.ts"
import { post, search, start } from "./start.ts"

const pageLength = 4300

// Pages of this server's own sentences in another order, with words of their own: much like real pages in size and words.
const source = join(import.meta.dirname, "../content")
const texts = await Promise.all(
  (await readdir(source)).filter((name) => name.endsWith(".md")).map((name) => readFile(join(source, name), "utf8")),
)
const blocks = texts.flatMap((text) => text.replace(/^---[\s\S]*?\n---\n/, "").split("\n\n"))
let state = 1
const random = (below: number): number => {
  state = (state * 48_271) % 2_147_483_647
  return state % below
}
const syllables = ["ka", "lo", "mi", "ren", "tos", "vel", "dar", "ix", "pun", "sem"]
const word = (): string => Array.from({ length: 3 }, () => syllables[random(syllables.length)]).join("")
const makePage = (i: number): string => {
  let text = `# ${word()} ${word()} ${i}\n\n`
  while (text.length < pageLength) {
    if (random(4) === 0) text += `## ${word()} ${word()}\n\n`
    text += `${blocks[random(blocks.length)]} ${word()} ${word()} ${word()}\n\n`
  }
  return text
}

const percentile = (times: readonly number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN

type Goals = { readonly start: number; readonly memory: number; readonly p50?: number; readonly p95?: number }
const goals: ReadonlyMap<number, Goals> = new Map([
  [1000, { start: 1500, memory: 200, p50: 1, p95: 4 }],
  [10_000, { start: 8000, memory: 600 }],
])

/** Time to start, memory and search time with so many pages. */
export const measureCorpus = async (table: BenchmarkTable, count: number): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), "svc-bench-"))
  const { start: mostStart, memory: mostMemory, p50, p95 } = goals.get(count) ?? {}
  const add = (what: string, value: number, unit: string, atMost: number | undefined): void =>
    table.add(`${count} pages: ${what}`, value, unit, atMost === undefined ? undefined : { atMost })
  try {
    for (let i = 0; i < count; i++) await writeFile(join(dir, `page-${i}.md`), makePage(i))
    const queries = Array.from({ length: 300 }, () =>
      [word(), "limit", word(), "answer"].slice(0, 2 + random(3)).join(" "),
    )

    const began = performance.now()
    const { program, url } = await start("../src/main.ts", { SVC_DOCS_DIR: dir })
    try {
      add("start", performance.now() - began, "ms", mostStart)
      for (const query of queries) await (await post(url, search(query))).text()
      const status = await readFile(`/proc/${program.pid}/status`, "utf8").catch(() => "")
      const memory = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024
      add(`resident after ${queries.length} searches`, memory, "MB", mostMemory)
    } finally {
      program.kill("SIGKILL")
    }

    const find = createSearch(await loadCorpus(dir))
    const times = queries.map((query) => {
      const before = performance.now()
      find(query, 0, 5)
      return performance.now() - before
    })
    add("search inside the server, p50", percentile(times, 0.5), "ms", p50)
    add("the same, p95", percentile(times, 0.95), "ms", p95)
  } finally {
    await rm(dir, { recursive: true })
  }
}
