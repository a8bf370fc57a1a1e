// What each idiom of Hono costs, against the first one on Hono's own Node server: prints the table of docs/decisions/http.md. The
// first row compares the first idiom with itself: what it strays from 1 is the machine's noise.
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { compareLoads, load, startProcess } from "@svc/testing"
import { z } from "zod"

const program = fileURLToPath(new URL("idiom.ts", import.meta.url))
const options = { connections: 32, seconds: Number(process.env["SVC_BENCH_SECONDS"] ?? 2) }

const start = async (way: string) => {
  // A request log goes to stdout: nobody reads it here.
  const child = startProcess(process.execPath, [program, way], { mute: way.startsWith("serve, ") })
  const [, port] = await child.waitFor(/"port":(\d+)/)
  return { child, url: `http://127.0.0.1:${port}/` }
}

const listed = execFileSync(process.execPath, [program, "list"], { encoding: "utf8" })
const ways = z.tuple([z.string()], z.string()).parse(JSON.parse(listed))
const [plain] = ways
const bare = await start(plain)
const rows = ["| Idiom | Requests a second | Rounds |", "|---|---|---|"]
for (const way of ways) {
  const one = await start(way)
  const { ratio, range } = await compareLoads(
    () => load({ url: one.url }, options),
    () => load({ url: bare.url }, options),
  )
  const [median, from, to] = [ratio.perSecond, ...range].map((value) => value.toFixed(2))
  rows.push(`| ${way} | ${median} | ${from}–${to} |`)
  one.child.kill("SIGKILL")
}
bare.child.kill("SIGKILL")
console.log(rows.join("\n"))
