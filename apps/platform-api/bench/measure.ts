// What the benchmarks measure with.
import { fileURLToPath } from "node:url"
import { freePort, startProcess } from "@svc/testing"
import autocannon from "autocannon"

export const app = fileURLToPath(new URL("..", import.meta.url))
const seconds = Number(process.env["SVC_BENCH_SECONDS"] ?? "4")
const rounds = 3

/** Starts one of the app's programs on a free port; `startMs` is how long it took until it listened. */
export const start = async (file: string, env: Record<string, string>) => {
  const port = await freePort()
  const began = performance.now()
  const program = startProcess(process.execPath, [file], { cwd: app, env: { PORT: String(port), ...env } })
  await program.waitFor(/"listening"/)
  return { program, url: `http://127.0.0.1:${port}`, startMs: performance.now() - began }
}

/** The service, once it is healthy. */
export const startService = async (env: Record<string, string>) => {
  const service = await start("src/main.ts", env)
  const health = await fetch(`${service.url}/health`)
  if (health.status !== 200) throw new Error("the service is not healthy")
  return service
}

/** Good answers a second; throws when there are others. */
export const rate = async (url: string, headers: Record<string, string> = {}, connections = 32): Promise<number> => {
  const result = await autocannon({ url, headers, connections, duration: seconds })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} answers that are not 2xx`)
  return result["2xx"] / result.duration
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Both under load in turns, so that what else the machine does meets both. */
export const compare = async (what: string, goal: number, ours: () => Promise<number>, bare: () => Promise<number>) => {
  const ratios: number[] = []
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const [one, other] = [await ours(), await bare()]
    ratios.push(one / other)
    rates.push(one)
  }
  console.log(`${what}: ${median(ratios).toFixed(2)} (goal ${goal}), ${Math.round(median(rates))} a second`)
}
