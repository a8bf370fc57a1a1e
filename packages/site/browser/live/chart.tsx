import { useEffect, useState } from "preact/hooks"
import { Choice } from "../fields.tsx"
import { CodeBox } from "./copy-button.tsx"
import type { Feed } from "./feed.ts"
import type { Point } from "./history.ts"
import { Plot } from "./plot.tsx"
import type { Address } from "./use-address.ts"
import { counted } from "./values.ts"

const rate = "changes a second"
const height = 190

/** The field that is drawn first: an amount where there is one. */
const firstOf = (paths: readonly string[]): string =>
  paths.find((path) => /(?:^|[._])(?:sol|ui_amount)$/.test(path)) ??
  paths.find((path) => /(?:lamports|amount|price|balance|total|count)$/.test(path)) ??
  rate

const isMeasured = ({ text }: Point): boolean => text !== ""

const csvOf = (name: string, points: readonly Point[]): string =>
  [`time,${name}`, ...points.filter(isMeasured).map(({ at, text }) => `${new Date(at).toISOString()},${text}`)].join(
    "\n",
  )

const labelOf = (name: string, points: readonly Point[]): string => {
  const newest = points.findLast(isMeasured)
  return newest === undefined
    ? `Chart of ${name}: nothing yet.`
    : `Chart of ${name}: ${counted(points.filter(isMeasured).length, "point")}, the newest is ${newest.text}.`
}

type Props = {
  readonly feed: Feed
  readonly isPaused: boolean
  readonly tick: number
  readonly address: Address
}

/** A numeric field of the records over time, or how many changes each second has. */
export const Chart = ({ feed, isPaused, tick, address }: Props) => {
  const [second, setSecond] = useState(0)
  const [{ of, points }, show] = useState<{ readonly of: string; readonly points: readonly Point[] }>({
    of: "",
    points: [],
  })
  const paths = feed.history.paths()
  const chosen = address.chosen("chart")
  const name = chosen === rate || paths.includes(chosen) ? chosen : firstOf(paths)
  const isRate = name === rate
  // Seconds without a change are drawn too, those that nobody listened to are not.
  useEffect(() => {
    if (!isRate) return undefined
    const timer = setInterval(() => setSecond((count) => count + 1), 1000)
    return () => clearInterval(timer)
  }, [isRate])
  useEffect(() => {
    if (!isPaused || of !== name)
      show({ of: name, points: isRate ? feed.history.rate(Date.now()) : feed.history.points(name) })
  }, [feed, name, isPaused, tick, second])
  const drawn = [
    points.map(({ at }) => at / 1000),
    points.map((point) => (isMeasured(point) ? Number(point.text) : null)),
  ] as const
  const csv = csvOf(of, points)
  return (
    <div class="chart">
      <Choice
        label="Chart"
        chosen={name}
        from={[...paths, rate].map((path) => [path, path] as const)}
        onChoose={(chart) => address.choose({ chart })}
      />
      <Plot data={drawn} names={[of]} label={labelOf(of, points)} height={height} />
      <details>
        <summary>{counted(points.filter(isMeasured).length, "point")} as text</summary>
        <CodeBox text={csv} of="the points as CSV" />
      </details>
    </div>
  )
}
