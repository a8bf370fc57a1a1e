import { fileURLToPath } from "node:url"
import { z } from "zod"
import { startProcess } from "./process.ts"

/** What one connection sends again and again: a GET, or a POST of JSON where there is a body. */
export type LoadTarget = {
  readonly url: string
  /** A list of them is dealt out to the connections. */
  readonly headers?: Readonly<Record<string, string>> | readonly Readonly<Record<string, string>>[]
  /** `[<id>]` in it becomes another text in every request. */
  readonly body?: string
}

export type Load = {
  readonly perSecond: number
  /** Milliseconds that half of the answers took at most. */
  readonly p50: number
  /** Milliseconds that 99 of 100 answers took at most. */
  readonly p99: number
}

const program = fileURLToPath(new URL("load-program.ts", import.meta.url))
const report = z.object({
  requests: z.object({ average: z.number() }),
  latency: z.object({ p50: z.number(), p99: z.number() }),
  non2xx: z.number(),
  errors: z.number(),
  statusCodeStats: z.record(z.string(), z.object({ count: z.number() })),
})

/** Loads one URL from a process of its own for so many seconds; throws when an answer was no 2xx. */
export const load = async (
  { url, headers = {}, body }: LoadTarget,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<Load> => {
  const target = { url, connections, seconds, headers: [headers].flat(), body }
  const child = startProcess(process.execPath, [program, JSON.stringify(target)])
  await child.exited
  const { requests, latency, non2xx, errors, statusCodeStats } = report.parse(JSON.parse(child.stdout()))
  if (non2xx + errors > 0) {
    const statuses = Object.entries(statusCodeStats).map(([status, { count }]) => `${count} times ${status}`)
    throw new Error(`${non2xx} answers were no 2xx (${statuses.join(", ")}), ${errors} failed: ${url}`)
  }
  return { perSecond: requests.average, p50: latency.p50, p99: latency.p99 }
}

export type Comparison = {
  /** Medians over the rounds. */
  readonly ours: Load
  readonly bare: Load
  /** Medians of the rounds' ratios: what the machine does meanwhile changes both loads of a round alike. */
  readonly ratio: Load
  /** The least and the most of the rounds' ratios of requests a second: how much the machine did meanwhile. */
  readonly range: readonly [from: number, to: number]
}

const rounds = 5

/** Loads the one and the other in turns, so that whatever else the machine does slows both; the first of each is warm-up. */
export const compareLoads = async (ours: () => Promise<Load>, bare: () => Promise<Load>): Promise<Comparison> => {
  await bare()
  await ours()
  const measured: { ours: Load; bare: Load }[] = []
  for (let round = 0; round < rounds; round++) measured.push({ bare: await bare(), ours: await ours() })
  const medians = (of: (round: (typeof measured)[number]) => Load): Load => ({
    perSecond: median(measured.map((round) => of(round).perSecond)),
    p50: median(measured.map((round) => of(round).p50)),
    p99: median(measured.map((round) => of(round).p99)),
  })
  const ratios = measured.map(({ ours: one, bare: other }) => one.perSecond / other.perSecond)
  return {
    range: [Math.min(...ratios), Math.max(...ratios)],
    ours: medians((round) => round.ours),
    bare: medians((round) => round.bare),
    ratio: medians((round) => ({
      perSecond: round.ours.perSecond / round.bare.perSecond,
      p50: round.ours.p50 / round.bare.p50,
      p99: round.ours.p99 / round.bare.p99,
    })),
  }
}

/** NaN of none. */
export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The middle one of some values, the upper of two; NaN of none. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
