import type { Attributes, HrTime, MetricOptions } from "@opentelemetry/api"
import { ValueType } from "@opentelemetry/api"
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  InstrumentType,
  type MetricData,
} from "@opentelemetry/sdk-metrics"
import { type Cell, createCells } from "./cells.ts"

/** Gives what an instrument has counted, at each call for one and the same reader; undefined while that is nothing. */
export type Collect = (now: HrTime) => MetricData | undefined

/** An instrument: what takes its measurements, and what gives their sums to each reader. */
export type Stream<Take> = {
  readonly take: Take
  readonly type: InstrumentType
  readonly collector: (temporality: AggregationTemporality) => Collect
}

type Point = { readonly attributes: Attributes; readonly startTime: HrTime; readonly endTime: HrTime }

export const hrTime = (milliseconds: number): HrTime => [Math.trunc(milliseconds / 1000), (milliseconds % 1000) * 1e6]

const described = (name: string, { description = "", unit = "", valueType = ValueType.DOUBLE }: MetricOptions) => ({
  name,
  description,
  unit,
  valueType,
})

/**
 * The points of all cells: all that was counted, or, for a reader that asks for differences, what was since it asked last.
 * @param copy of what is counted so far
 * @param since of two copies, what came to the first one; undefined when that is nothing
 */
const pointsOf = <T, V>(
  cells: () => Iterable<Cell<T>>,
  copy: (counted: T) => V,
  since: (now: V, before: V | undefined) => V | undefined,
  temporality: AggregationTemporality,
) => {
  const told = new Map<Cell<T>, { readonly value: V; readonly at: HrTime }>()
  return (endTime: HrTime): (Point & { readonly value: V })[] =>
    Array.from(cells()).flatMap((cell) => {
      const value = copy(cell.counted)
      const last = told.get(cell)
      const point = { attributes: cell.attributes, startTime: last?.at ?? hrTime(cell.since), endTime }
      if (temporality === AggregationTemporality.CUMULATIVE) return [{ ...point, value }]
      told.set(cell, { value, at: endTime })
      const difference = since(value, last?.value)
      return difference === undefined ? [] : [{ ...point, value: difference }]
    })
}

/** A counter, or one that may go down too. */
export const createSum = (
  name: string,
  options: MetricOptions,
  type: InstrumentType.COUNTER | InstrumentType.UP_DOWN_COUNTER,
): Stream<(value: number, attributes?: Attributes) => void> => {
  const descriptor = described(name, options)
  const isMonotonic = type === InstrumentType.COUNTER
  const cells = createCells(() => ({ sum: 0 }))
  return {
    type,
    take: (value, attributes) => {
      if (isMonotonic && value < 0) return
      cells.of(attributes).sum += value
    },
    collector: (aggregationTemporality) => {
      const collect = pointsOf(
        cells.all,
        ({ sum }) => sum,
        (now, before) => (now === before ? undefined : now - (before ?? 0)),
        aggregationTemporality,
      )
      return (now) => {
        const dataPoints = collect(now)
        if (dataPoints.length === 0) return undefined
        return { descriptor, aggregationTemporality, isMonotonic, dataPointType: DataPointType.SUM, dataPoints }
      }
    },
  }
}

// Of the specification, where the instrument advises none.
const defaultBoundaries = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000]

type HistogramStream = Stream<(value: number, attributes?: Attributes) => void> & {
  /** The same for attributes that are given once. */
  readonly bind: (attributes: Attributes) => (value: number) => void
}

/** A histogram: how many values fell into each bucket, whose upper boundary belongs to it. */
export const createHistogram = (name: string, options: MetricOptions): HistogramStream => {
  const descriptor = described(name, options)
  const boundaries = (options.advice?.explicitBucketBoundaries ?? defaultBoundaries).toSorted((a, b) => a - b)
  const cells = createCells(() => ({
    counts: Array.from({ length: boundaries.length + 1 }, () => 0),
    sum: 0,
    count: 0,
    min: Infinity,
    max: -Infinity,
  }))
  const record = (cell: ReturnType<typeof cells.of>, value: number): void => {
    let bucket = 0
    while (bucket < boundaries.length && value > (boundaries[bucket] ?? Infinity)) bucket++
    cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1
    cell.sum += value
    cell.count++
    if (value < cell.min) cell.min = value
    if (value > cell.max) cell.max = value
  }
  return {
    type: InstrumentType.HISTOGRAM,
    take: (value, attributes) => {
      if (value >= 0) record(cells.of(attributes), value)
    },
    bind: (attributes) => {
      let cell: ReturnType<typeof cells.of> | undefined
      return (value) => {
        if (value >= 0) record((cell ??= cells.of(attributes)), value)
      }
    },
    collector: (aggregationTemporality) => {
      const collect = pointsOf(
        cells.all,
        ({ counts, ...rest }): Histogram => ({ ...rest, buckets: { boundaries, counts: [...counts] } }),
        sinceThen,
        aggregationTemporality,
      )
      return (now) => {
        const dataPoints = collect(now)
        if (dataPoints.length === 0) return undefined
        return { descriptor, aggregationTemporality, dataPointType: DataPointType.HISTOGRAM, dataPoints }
      }
    },
  }
}

// The least and the greatest of a part are not known: both may be left out.
const sinceThen = (now: Histogram, before: Histogram | undefined): Histogram | undefined => {
  if (before === undefined) return now
  if (now.count === before.count) return undefined
  const counts = now.buckets.counts.map((count, index) => count - (before.buckets.counts[index] ?? 0))
  return {
    buckets: { boundaries: now.buckets.boundaries, counts },
    sum: (now.sum ?? 0) - (before.sum ?? 0),
    count: now.count - before.count,
  }
}
