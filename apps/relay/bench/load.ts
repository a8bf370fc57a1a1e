import { fileURLToPath } from "node:url"
import { startProcess } from "@svc/testing"
import { z } from "zod"

const autocannon = fileURLToPath(new URL("../node_modules/autocannon/autocannon.js", import.meta.url))
const report = z.object({
  requests: z.object({ average: z.number() }),
  latency: z.object({ p50: z.number(), p99: z.number() }),
  non2xx: z.number(),
  errors: z.number(),
})

export type Load = { readonly perSecond: number; readonly p50: number; readonly p99: number }
type Target = { readonly url: string; readonly body: string; readonly headers?: Readonly<Record<string, string>> }

/** Loads one URL from a process of its own; throws when an answer was no 200. */
export const load = async (
  { url, body, headers = {} }: Target,
  connections: number,
  seconds: number,
): Promise<Load> => {
  const given = Object.entries({ "content-type": "application/json", ...headers }).flatMap(([k, v]) => [
    "-H",
    `${k}=${v}`,
  ])
  const options = ["-j", "-c", `${connections}`, "-d", `${seconds}`, "-m", "POST", "-b", body, ...given, url]
  const child = startProcess(process.execPath, [autocannon, ...options])
  await child.exited
  const { requests, latency, non2xx, errors } = report.parse(JSON.parse(child.stdout()))
  if (non2xx + errors > 0) throw new Error(`${non2xx} answers were no 200, ${errors} failed: ${url}`)
  return { perSecond: requests.average, p50: latency.p50, p99: latency.p99 }
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
