// What the throughput runs have in common: rows that compare a service with a peer, and with itself without telemetry.
import { type BenchmarkTable, type Goal, type Load, loadInRounds, type LoadTarget, mean, median } from "@svc/testing"
import { type Replica, startCollector } from "./ground.ts"

const options = {
  connections: 32,
  requests: Number(process.env["SVC_BENCH_REQUESTS"] ?? 20_000),
  rounds: Number(process.env["SVC_BENCH_ROUNDS"] ?? 5),
}
export const { connections } = options

type Rounds = readonly (readonly [ours: Load, peer: Load])[]

/** The median over the rounds. Each round compares measurements taken within seconds. */
const ratioOf = (rounds: Rounds, value: (load: Load) => number): number =>
  median(rounds.map(([ours, peer]) => value(ours) / value(peer)))

const describe = (rounds: Rounds): string => {
  const [ours, peer] = [0, 1].map((side) => Math.round(median(rounds.map((loads) => loads[side]?.cost ?? Number.NaN))))
  const [perSecond, p50, p99] = (["perSecond", "p50", "p99"] as const).map((name) =>
    ratioOf(rounds, (load) => load[name]).toFixed(2),
  )
  return `${ours} µs to ${peer} µs a request (throughput × ${perSecond}, p50 × ${p50}, p99 × ${p99})`
}

/**
 * Adds a row: how many requests the service serves for the processor time that a peer spends on one. Processor time is steady
 * while throughput isn't. Throughput and latency are shown next to it.
 */
export const compare = async (
  table: BenchmarkTable,
  name: string,
  goal: Goal | undefined,
  ours: LoadTarget,
  peer: LoadTarget,
): Promise<void> => {
  const rounds = (await loadInRounds([ours, peer], options)) as unknown as Rounds
  table.add(`${name}: ${describe(rounds)}`, 1 / ratioOf(rounds, ({ cost }) => cost), "x", goal)
}

// Two processes of the same code differ by up to a tenth for as long as they live.
const pairs = 2

const together = (loads: readonly Load[]): Load => ({
  cost: mean(loads.map(({ cost }) => cost)),
  perSecond: mean(loads.map(({ perSecond }) => perSecond)),
  p50: mean(loads.map(({ p50 }) => p50)),
  p99: mean(loads.map(({ p99 }) => p99)),
})

/** Adds rows: processes that export to a collector to as many without telemetry. */
export const compareTelemetry = async (
  table: BenchmarkTable,
  start: (env: Readonly<Record<string, string>>) => Promise<Replica>,
  targetOf: (replica: Replica) => LoadTarget,
): Promise<void> => {
  const collector = await startCollector()
  const all: Replica[] = []
  for (let pair = 0; pair < pairs; pair++) all.push(await start(collector.settings), await start({}))
  const measured = await loadInRounds(all.map(targetOf), { ...options, requests: options.requests / pairs })
  const rounds = measured.map((loads): [Load, Load] => [
    together(loads.filter((_, index) => index % 2 === 0)),
    together(loads.filter((_, index) => index % 2 === 1)),
  ])
  if (collector.received() === 0) throw new Error("nothing was exported")
  table.add(
    "telemetry on to off, throughput",
    ratioOf(rounds, ({ perSecond }) => perSecond),
    "x",
    { atLeast: 0.8 },
  )
  table.add(`telemetry on to off: ${describe(rounds)}`, 1 / ratioOf(rounds, ({ cost }) => cost), "x")
  for (const { child } of all) child.kill("SIGKILL")
  collector.stop()
}

/** Prints the table; exits with 1 if a goal is missed. */
export const finish = (table: BenchmarkTable): never => {
  console.log(table.text())
  process.exit(table.met() ? 0 : 1)
}
