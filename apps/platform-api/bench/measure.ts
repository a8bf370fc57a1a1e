// What the benchmarks measure with.
import { readFileSync, rmSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import {
  type BenchmarkTable,
  compareLoads,
  type Goal,
  freePort,
  type Load,
  load,
  type LoadTarget,
  startProcess,
  type TestPostgres,
  type TestProcess,
} from "@svc/testing"

export const app = fileURLToPath(new URL("..", import.meta.url))
const seconds = Number(process.env["SVC_BENCH_SECONDS"] ?? "3")
export const connections = 32

const started = new Set<TestProcess>()

/** Ends all that was started here and still runs. */
export const stopStarted = async (): Promise<void> => {
  for (const program of started) program.kill("SIGTERM")
  await Promise.all([...started].map(({ exited }) => exited))
  started.clear()
}

/** Starts one of the app's programs on a free port; `startMs` is how long it took until it answered at `path`. */
export const start = async (file: string, env: Record<string, string>, path = "/health") => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const began = performance.now()
  const program = startProcess(process.execPath, [file], { cwd: app, env: { PORT: String(port), ...env }, mute: true })
  started.add(program)
  const ended = program.exited.then(() => {
    throw new Error(`${file} ended: ${program.stderr()}`)
  })
  const healthy = async (): Promise<boolean> => (await fetch(url + path).catch(() => undefined))?.status === 200
  while (!(await Promise.race([healthy(), ended]))) await setTimeout(5)
  return { program, url, startMs: performance.now() - began }
}

/** Measures; ends what was started and the ground it stood on, whatever fails; prints the table. Exits with 1 when a goal is missed. */
export const runBenchmark = async (
  table: BenchmarkTable,
  { server, folder }: { readonly server: TestPostgres; readonly folder: string },
  measure: () => Promise<void>,
): Promise<void> => {
  try {
    await measure()
  } finally {
    await stopStarted()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(table.text())
  if (!table.met()) process.exitCode = 1
}

/** Resident memory of a process, in megabytes. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

/** One URL under load. */
export const rate = (url: string, headers: LoadTarget["headers"] = {}, over = connections): Promise<Load> =>
  load({ url, headers }, { connections: over, seconds })

/** Both under load in turns. */
export const compare = async (
  table: BenchmarkTable,
  what: string,
  goal: Goal | undefined,
  ours: () => Promise<Load>,
  bare: () => Promise<Load>,
): Promise<void> => {
  const compared = await compareLoads(ours, bare)
  const rates = [compared.ours, compared.bare].map(({ perSecond }) => Math.round(perSecond))
  table.add(`${what}, ${rates.join(" a second to ")}`, compared.ratio.perSecond, "x", goal)
}
