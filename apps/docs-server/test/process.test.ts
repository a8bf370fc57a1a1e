import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, postJson } from "@svc/testing"
import { beforeEach, expect, test } from "vitest"
import { testFolder, testProcess } from "../../../test/start-service.ts"
import { writePages } from "./pages.ts"

const main = join(import.meta.dirname, "../src/main.ts")
let dir: string
beforeEach(async () => {
  dir = await testFolder()
  await writePages(dir)
})

/** @param within a program that runs the server, with its first arguments */
const run = (env: Record<string, string> = {}, within: readonly string[] = []) => {
  const [program, ...args] = [...within, process.execPath, main]
  return testProcess(program, args, { env: { PORT: "0", SVC_DOCS_DIR: dir, ...env }, cwd: tmpdir() })
}
const launch = async (env?: Record<string, string>, within?: readonly string[]) => {
  const program = run(env, within)
  const [, port] = await program.waitFor(/"port":(\d+)/)
  return { program, url: `http://127.0.0.1:${port}` }
}
const textAt = async (url: string): Promise<string> => (await fetch(url)).text()

test("svc.docs.streams counts open event streams, and is 0 again after their clients leave", async () => {
  const port = await freePort()
  const prometheus = { SVC_OTEL_ENABLED: "true", OTEL_METRICS_EXPORTER: "prometheus", OTEL_TRACES_EXPORTER: "none" }
  const { url } = await launch({ ...prometheus, OTEL_EXPORTER_PROMETHEUS_PORT: String(port) })
  const count = async () =>
    /^svc_docs_streams(?:\{.*\})? (\d+)$/m.exec(await textAt(`http://127.0.0.1:${port}/metrics`))?.[1]
  const streams = [1, 2, 3].map(() => get(`${url}/mcp`, { headers: { accept: "text/event-stream" }, agent: false }))
  await Promise.all(streams.map((sent) => once(sent, "response")))
  expect(await count()).toBe("3")
  for (const sent of streams) sent.on("error", () => {}).destroy()
  await expect.poll(count).toBe("0")
})

test("the server isn't ready while it reads the pages, which the log doesn't call an error, and a signal stops it in order", async () => {
  const write = (number: number) => writeFile(join(dir, `page-${number}.md`), `# Page ${number}\n\nText.\n`)
  await Promise.all(Array.from({ length: 300 }, (_, number) => write(number)))
  const port = await freePort()
  const child = run({ PORT: `${port}` })
  const ready = () => fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  let first: Response | undefined
  while (first === undefined) first = await ready()
  expect(first.status).toBe(503)
  child.kill("SIGTERM")
  await child.waitFor(/"msg":"listening"/)
  await child.waitFor(/"level":"info".*"route":"\/readyz","status":503/)
  expect(child.stdout()).not.toContain('"level":"error"')
  expect(await child.exited).toBe(0)
})

// Where that may be done, the system has no file watches left for it.
const withoutWatches = ["-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"', "sh"]
const limited = spawnSync("unshare", [...withoutWatches, "true"]).status === 0 ? ["unshare", ...withoutWatches] : []

test("an edit of the pages is served; a broken edit keeps the last good pages and logs the reason", async () => {
  const { program, url } = await launch({ SVC_DOCS_WATCH: "true" }, limited)
  await writeFile(join(dir, "guides/two.md"), "# Two\n\nA zebra.\n")
  await program.waitFor(/pages read again/)
  expect(await textAt(`${url}/guides/two`)).toContain("zebra")
  const params = { name: "search_docs", arguments: { query: "zebra" } }
  const search = await postJson(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "tools/call", params })
  expect(await search.text()).toContain("guides/two")
  await writeFile(join(dir, "guides/two.md"), "---\ntitle: [\n---\n# Broken\n")
  await program.waitFor(/pages not read.*|two\.md: /)
  expect(program.stdout()).toMatch(/guides\/two\.md: /)
  expect(await textAt(`${url}/guides/two`)).toContain("zebra")
  await writeFile(join(dir, "guides/two.md"), "# Two\n\nMended.\n")
  await expect.poll(() => textAt(`${url}/guides/two`)).toContain("Mended")
})
