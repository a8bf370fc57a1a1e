// What each idiom of Hono costs, against the first one on Hono's own Node server: prints the table of docs/decisions/http.md.
// Requests are counted for a second of the server's own processor time, which other work on the machine changes little. The
// first row compares the first idiom with itself: what it strays from 1 is noise all the same.
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { compareLoads, type Load, load, startProcess } from "@svc/testing"
import { z } from "zod"

const program = fileURLToPath(new URL("idiom.ts", import.meta.url))
const options = { connections: 32, seconds: Number(process.env["SVC_BENCH_SECONDS"] ?? 2) }

const start = async (way: string) => {
  // A request log goes to stdout: nobody reads it here.
  const child = startProcess(process.execPath, [program, way], { mute: way.startsWith("serve, ") })
  const [, port] = await child.waitFor(/"port":(\d+)/)
  const url = `http://127.0.0.1:${port}/`
  const spent = async (): Promise<number> => Number(await (await fetch(`${url}spent`)).text())
  const perProcessorSecond = async (): Promise<Load> => {
    const before = await spent()
    const loaded = await load({ url }, options)
    return { ...loaded, perSecond: (loaded.perSecond * options.seconds) / ((await spent()) - before) }
  }
  return { perProcessorSecond, stop: () => child.kill("SIGKILL") }
}

const listed = execFileSync(process.execPath, [program, "list"], { encoding: "utf8" })
const ways = z.tuple([z.string()], z.string()).parse(JSON.parse(listed))
const [plain] = ways
const bare = await start(plain)
const rows = ["| Idiom | Requests for the same work | Rounds |", "|---|---|---|"]
for (const way of ways) {
  const one = await start(way)
  const { ratio, range } = await compareLoads(one.perProcessorSecond, bare.perProcessorSecond)
  const [median, from, to] = [ratio.perSecond, ...range].map((value) => value.toFixed(2))
  rows.push(`| ${way} | ${median} | ${from}–${to} |`)
  one.stop()
}
bare.stop()
console.log(rows.join("\n"))
