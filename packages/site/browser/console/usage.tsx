import type { Usage } from "@svc/client"
import { lineColors, Plot } from "../live/plot.tsx"
import { brief } from "./text.ts"
import { useState } from "preact/hooks"
import { Choice } from "../fields.tsx"
import { AsCurl } from "./as-curl.tsx"
import { Failure } from "./failure.tsx"
import { NotRead } from "./list-table.tsx"
import { Table } from "../table.tsx"
import { useRead } from "./use-read.ts"

const height = 220
const dayMs = 86_400_000
const mostNamed = lineColors.length - 1

type Line = { readonly name: string; readonly values: readonly number[] }

/** Requests of each key on each day, the busiest keys first; the keys past the colours are one line. */
const linesOf = (usage: Usage, dates: readonly string[]): readonly Line[] => {
  const byKey = new Map<number, { name: string; values: number[]; sum: number }>()
  for (const { date, keys } of usage.days) {
    const index = dates.indexOf(date)
    for (const { id, name, requests } of keys) {
      const line = byKey.get(id) ?? { name: `${brief(name, 64)} (${id})`, values: dates.map(() => 0), sum: 0 }
      byKey.set(id, line)
      line.values[index] = requests
      line.sum += requests
    }
  }
  const sorted = [...byKey.values()].sort((a, b) => b.sum - a.sum)
  const [named, others] = [sorted.slice(0, mostNamed), sorted.slice(mostNamed)]
  if (others.length === 0) return named
  const values = dates.map((_, index) => others.reduce((sum, line) => sum + (line.values[index] ?? 0), 0))
  return [...named, { name: `${others.length} other keys`, values }]
}

const UsageChart = ({ usage }: { readonly usage: Usage }) => {
  const from = Date.parse(usage.from)
  const length = Math.round((Date.parse(usage.to) - from) / dayMs) + 1
  const starts = Array.from({ length }, (_, index) => from + index * dayMs)
  const dates = starts.map((start) => new Date(start).toISOString().slice(0, 10))
  const lines = linesOf(usage, dates)
  if (lines.length === 0) return null
  // A bar of one key stands in front of the bar of all keys up to it: the whole bar is drawn first.
  const stacked = lines.map((_, index) =>
    dates.map((_date, day) => lines.slice(0, index + 1).reduce((sum, { values }) => sum + (values[day] ?? 0), 0)),
  )
  const total = stacked.at(-1)?.reduce((sum, count) => sum + count, 0) ?? 0
  const label = `Chart of requests a day from ${usage.from} to ${usage.to}: ${total} by ${lines.length} keys. The table says the same.`
  return (
    <figure class="usage-chart">
      <Plot
        isDaily
        data={[starts.map((start) => start / 1000), ...stacked.toReversed()]}
        names={lines.map(({ name }) => name).toReversed()}
        colors={lineColors.slice(0, lines.length).toReversed()}
        label={label}
        height={height}
      />
      <figcaption>
        {lines.map(({ name }, index) => (
          <span key={name} class="swatch" style={{ "--swatch": `var(${lineColors[index]})` }}>
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

type Counts = Omit<Usage["days"][number]["keys"][number], "id" | "name">
const headings = { requests: "Requests", refused: "Refused", sessions: "Sessions" } as const satisfies Record<
  keyof Counts,
  string
>
const counted = Object.keys(headings) as (keyof Counts)[]

const choices = [7, 30, 90].map((days) => [days, String(days)] as const)

export const UsageView = () => {
  const [days, setDays] = useState(30)
  const path = `/api/usage?days=${days}`
  const { body: usage, error, again } = useRead<Usage>(path)
  const rows = (usage?.days ?? []).toReversed().flatMap(({ date, keys }) =>
    keys.map(({ id, name, ...counts }, index) => [
      index === 0 ? date : "",
      <>
        <span class="written">{brief(name, 64)}</span> <span class="muted">{id}</span>
      </>,
      ...counted.map((one) => counts[one]),
    ]),
  )
  return (
    <>
      <div class="controls">
        <Choice label="Days" chosen={days} from={choices} onChoose={setDays} />
        <button type="button" onClick={again}>
          Read again
        </button>
      </div>
      <Failure error={error} isRead />
      {usage === undefined && error === undefined && <NotRead />}
      {usage !== undefined && <UsageChart usage={usage} />}
      {usage !== undefined && (
        <Table
          label="Usage"
          heads={["Day (UTC)", "Key", ...Object.values(headings)]}
          rows={rows}
          empty="No requests in these days."
        />
      )}
      <p class="muted">Counts are up to 10 seconds late. Refused: responses with 403 or 429.</p>
      <AsCurl requests={[{ path }]} />
    </>
  )
}
