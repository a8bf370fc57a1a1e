import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"

/** Values of one line, or several; `x` in seconds since 1970, ascending. */
type PlotData = readonly [x: readonly number[], ...y: readonly (readonly number[])[]]

type Props = {
  readonly data: PlotData
  readonly names: readonly string[]
  /** What the chart says, for those who can't see it. */
  readonly label: string
  readonly height: number
}

const colors = ["--link", "--number", "--string", "--keyword", "--name"]
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 3 })

/** Whether one value would press the others flat: then the axis has powers of ten. */
const needsLog = ([, ...lines]: PlotData): boolean => {
  const values = lines.flat().sort((a, b) => a - b)
  const [least = 0, middle = 0, most = 0] = [values[0], values[Math.floor(values.length / 2)], values.at(-1)]
  return least > 0 && most > 50 * middle
}

const optionsFor = (place: HTMLElement, names: readonly string[], height: number, isLog: boolean): uPlot.Options => {
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
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    // The library's names for these numbers exist only as types.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    scales: { y: { distr: isLog ? 3 : 1 } },
    axes: [
      { ...axis, space: 90, values: (_, ticks) => ticks.map((tick) => timeOfDay.format(tick * 1000)) },
      { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : compact.format(tick))) },
    ],
    series: [
      {},
      ...names.map((name, index) => ({
        label: name,
        stroke: color(colors[index % colors.length] ?? "--link"),
        width: 1.5,
        points: { size: 5 },
      })),
    ],
  }
}

/** A chart of lines over time, in the page's colours and as wide as its place. */
export const Plot = ({ data, names, label, height }: Props) => {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  const series = names.join("\n")
  const isLog = needsLog(data)
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const draw = (): void => {
      chart.current?.destroy()
      chart.current = new uPlot(
        optionsFor(element, names, height, isLog),
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
