import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"

/** Values of one line, or several, null for a gap; `x` in seconds since 1970, ascending. */
type PlotData = readonly [x: readonly number[], ...y: readonly (readonly (number | null)[])[]]

type Props = {
  readonly data: PlotData
  readonly names: readonly string[]
  /** Names of the page's colours, one for each line. */
  readonly colors?: readonly string[]
  /** Draws a bar for each UTC day, the first line's bars behind the others', from 0. */
  readonly isDaily?: boolean
  /** What the chart says, for those who can't see it. */
  readonly label: string
  readonly height: number
}

export const lineColors = ["--link", "--number", "--string", "--keyword", "--name"]
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 3 })

const daySeconds = 86_400
const bars = uPlot.paths.bars?.({ size: [0.7, 40] }) ?? (() => null)

/** Whether one value would press the others flat: then the axis has powers of ten. */
const needsLog = ([, ...lines]: PlotData): boolean => {
  const values = lines
    .flat()
    .filter((value) => value !== null)
    .sort((a, b) => a - b)
  const [least = 0, middle = 0, most = 0] = [values[0], values[Math.floor(values.length / 2)], values.at(-1)]
  return least > 0 && most > 50 * middle
}

type Drawn = Required<Pick<Props, "names" | "colors" | "height" | "isDaily">> & { readonly isLog: boolean }

/** What a chart of days has in place of a chart of moments. */
const daily = {
  x: {
    time: false,
    range: (_: uPlot, least: number, most: number): uPlot.Range.MinMax => [
      least - daySeconds / 2,
      most + daySeconds / 2,
    ],
  },
  y: { range: (_: uPlot, _least: number, most: number): uPlot.Range.MinMax => [0, Math.max(1, most)] },
  incrs: [1, 2, 7, 14, 28].map((days) => days * daySeconds),
}

/** A single moment stands in the middle of a minute: `most` is already the library's own, years later. Without a point there is no time to show. */
const moments = ({ data: [at] }: uPlot, least: number | null, most: number | null): uPlot.Range.MinMax =>
  least !== null && least === at.at(-1) ? [least - 30, least + 30] : [least, most]

const optionsFor = (place: HTMLElement, { names, colors, height, isLog, isDaily }: Drawn): uPlot.Options => {
  const format = isDaily ? day : timeOfDay
  const style = getComputedStyle(place)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis: uPlot.Axis = {
    stroke: color("--muted"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  }
  return {
    width: place.clientWidth,
    height,
    // Half of the last label stands to the right.
    padding: [8, isDaily ? 8 : 40, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    // The library's names for these numbers exist only as types.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    scales: isDaily ? { x: daily.x, y: daily.y } : { x: { range: moments }, y: { distr: isLog ? 3 : 1 } },
    axes: [
      {
        ...axis,
        space: 90,
        ...(isDaily && { incrs: daily.incrs }),
        values: (_, ticks) => ticks.map((tick) => format.format(tick * 1000)),
      },
      { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : compact.format(tick))) },
    ],
    series: [
      {},
      ...names.map((name, index) => {
        const stroke = color(colors[index % colors.length] ?? "--link")
        const look = isDaily ? { fill: stroke, paths: bars, points: { show: false } } : { points: { size: 5 } }
        return { label: name, stroke, width: isDaily ? 0 : 1.5, ...look }
      }),
    ],
  }
}

/** A chart of lines over time, in the page's colours and as wide as its place. */
export const Plot = ({ data, names, label, height, colors = lineColors, isDaily = false }: Props) => {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  const series = names.join("\n")
  const isLog = !isDaily && needsLog(data)
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const draw = (): void => {
      chart.current?.destroy()
      chart.current = new uPlot(
        optionsFor(element, { names, colors, height, isLog, isDaily }),
        data as unknown as uPlot.AlignedData,
        element,
      )
    }
    draw()
    const sized = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height }))
    sized.observe(element)
    const scheme = matchMedia("(prefers-color-scheme: dark)")
    scheme.addEventListener("change", draw)
    return () => {
      sized.disconnect()
      scheme.removeEventListener("change", draw)
      chart.current?.destroy()
      chart.current = null
    }
  }, [series, height, isLog])
  useEffect(() => chart.current?.setData(data as unknown as uPlot.AlignedData), [data])
  return <div class="plot" ref={place} role="img" aria-label={label} />
}
