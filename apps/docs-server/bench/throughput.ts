// Requests a second of the server against a bare Hono route that answers with a body of the same size. The two take
// turns, so that a busy machine slows both. Run: node bench/throughput.ts [seconds a turn]
import { fileURLToPath } from "node:url"
import { serve } from "@svc/http"
import { startProcess } from "@svc/testing"
import { Hono } from "hono"
import { z } from "zod"
import { post, search, startServer } from "./start.ts"

const rounds = 3
const autocannon = fileURLToPath(new URL("../node_modules/autocannon/autocannon.js", import.meta.url))
const report = z.object({ requests: z.object({ average: z.number() }), non2xx: z.number(), errors: z.number() })

type Load = { readonly name: string; readonly floor: number; readonly body?: string }

const loads: Load[] = [
  { name: "tools/list", floor: 0.4, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' },
  { name: "search_docs, repeating", floor: 0.25, body: search("rate limit") },
  // The load generator puts a number of its own into every request.
  { name: "search_docs, never repeating", floor: 0, body: search("limit of streams [<id>]") },
  { name: "GET /mcp", floor: 0.6 },
]

const run = async (url: string, { name, body }: Load, seconds: number): Promise<number> => {
  const sent = body === undefined ? [] : ["-m", "POST", "-H", "content-type=application/json", "-b", body, "-I"]
  const child = startProcess(process.execPath, [autocannon, "-j", "-c", "16", "-d", `${seconds}`, ...sent, url])
  await child.exited
  const { requests, non2xx, errors } = report.parse(JSON.parse(child.stdout()))
  if (non2xx + errors > 0) throw new Error(`${name}: ${non2xx} refusals, ${errors} errors`)
  return requests.average
}

if (process.argv[2] === "bare") {
  const bare = new Hono()
  const sizes = new Map<string, string>()
  bare.on(["GET", "POST"], "/:size", (c) => {
    const size = c.req.param("size")
    const text = sizes.get(size) ?? "x".repeat(Number(size))
    sizes.set(size, text)
    return new Response(text, { headers: { "Content-Type": "application/json" } })
  })
  const { port } = await serve({
    fetch: (request, env) => bare.fetch(request, env),
    host: "127.0.0.1",
    port: 0,
    drainMs: 0,
  })
  console.log(`port ${port}`)
} else {
  const seconds = Number(process.argv[2] ?? 3)
  const bare = startProcess(process.execPath, [import.meta.filename, "bare"])
  const server = await startServer()
  try {
    const [, port = ""] = await bare.waitFor(/port (\d+)/)
    for (const load of loads) {
      const first = load.body === undefined ? fetch(`${server.url}/mcp`) : post(server.url, load.body)
      const size = (await (await first).text()).length
      let [ours, theirs] = [0, 0]
      for (let round = 0; round < rounds; round++) {
        theirs += await run(`http://127.0.0.1:${port}/${size}`, load, seconds)
        ours += await run(`${server.url}/mcp`, load, seconds)
      }
      const each = (rate: number) => Math.round(rate / rounds)
      const ratio = ours / theirs
      console.log(
        `${load.name}: ${each(ours)}/s, bare ${each(theirs)}/s, ratio ${ratio.toFixed(2)} (at least ${load.floor})`,
      )
      if (ratio < load.floor) process.exitCode = 1
    }
  } finally {
    server.program.kill("SIGKILL")
    bare.kill("SIGKILL")
  }
}
