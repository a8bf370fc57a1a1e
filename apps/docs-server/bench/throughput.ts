import { type BenchmarkTable, compareLoads, type Goal, load } from "@svc/testing"
import { post, search, start } from "./start.ts"

const options = { connections: 16, seconds: Number(process.env["SVC_BENCH_SECONDS"] ?? 3) }

type Row = {
  readonly name: string
  readonly goal?: Goal
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const rows: Row[] = [
  {
    name: "tools/list",
    goal: { atLeast: 0.4 },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
  },
  { name: "search_docs, repeating", goal: { atLeast: 0.25 }, body: search("rate limit") },
  // The load generator puts another text into every request.
  { name: "search_docs, never repeating", goal: { atLeast: 0.15 }, body: search("limit of streams [<id>]") },
  { name: "GET /mcp", goal: { atLeast: 0.6 } },
  {
    name: "a page in a browser",
    goal: { atLeast: 0.6 },
    path: "/keys",
    headers: { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" },
  },
]

/** Requests a second of the server against a bare route that answers with as many bytes. */
export const measureThroughput = async (table: BenchmarkTable): Promise<void> => {
  const [bare, server] = [await start("bare.ts"), await start("../src/main.ts")]
  try {
    for (const { name, goal, path = "/mcp", headers = {}, body } of rows) {
      const first = body === undefined ? fetch(`${server.url}${path}`, { headers }) : post(server.url, body)
      const size = (await (await first).text()).length
      const given = body === undefined ? { headers } : { body }
      const compared = await compareLoads(
        () => load({ url: `${server.url}${path}`, ...given }, options),
        () => load({ url: `${bare.url}/${size}`, ...given }, options),
      )
      const rates = [compared.ours, compared.bare].map(({ perSecond }) => Math.round(perSecond))
      table.add(`${name}: throughput, ${rates.join(" a second to ")}`, compared.ratio.perSecond, "x", goal)
    }
  } finally {
    server.program.kill("SIGKILL")
    bare.program.kill("SIGKILL")
  }
}
