import type { Attributes, Meter } from "@opentelemetry/api"
import { resourceFromAttributes } from "@opentelemetry/resources"
import { AggregationTemporality, type IMetricReader, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createMeters } from "./meters.ts"

class Reader extends MetricReader {
  override async onShutdown() {}
  override async onForceFlush() {}
}

const open = (temporality: AggregationTemporality) => {
  const reader = new Reader({ aggregationTemporalitySelector: () => temporality })
  return { reader, readers: [reader], resource: resourceFromAttributes({}) }
}

type Measure = (value: number, attributes: Attributes) => void

const instrumentsOf = (meter: Meter): Measure[] => {
  meter.createObservableGauge("gauge", { unit: "1" }).addCallback((result) => result.observe(3, { of: "it" }))
  const sum = meter.createCounter("sum", { description: "All of it.", unit: "By" })
  const level = meter.createUpDownCounter("level")
  const advice = { explicitBucketBoundaries: [1, 2, 5] }
  const sizes = meter.createHistogram("sizes", { unit: "s", advice })
  const times = meter.createHistogram("times")
  return [
    (...measured) => sum.add(...measured),
    (...measured) => level.add(...measured),
    (...measured) => sizes.record(...measured),
    (...measured) => times.record(...measured),
  ]
}

/** What a reader is given, without the moments at which it was counted, and in no order. */
const exported = async (reader: IMetricReader, temporality: AggregationTemporality): Promise<unknown> => {
  const { resourceMetrics, errors } = await reader.collect()
  expect(errors).toEqual([])
  const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  const scopes = resourceMetrics.scopeMetrics.map(({ scope, metrics }) => ({
    scope,
    metrics: metrics
      .map(({ dataPoints, descriptor: { name, unit, description, valueType }, ...rest }) => ({
        ...rest,
        descriptor: { name, unit, description, valueType },
        points: dataPoints
          .map(({ attributes, value, startTime, endTime }) => {
            expect(endTime[0]).toBeGreaterThanOrEqual(startTime[0])
            // Of differences ours knows neither the least nor the greatest, which may be left out, and leaves out what is none.
            const part = temporality === AggregationTemporality.DELTA && typeof value === "object"
            const told = part ? { ...value, min: undefined, max: undefined } : value
            return { attributes: Object.entries(attributes).toSorted(byText), value: told }
          })
          .filter(({ value }) => temporality === AggregationTemporality.CUMULATIVE || value !== 0)
          .toSorted(byText),
      }))
      .filter(({ points }) => points.length > 0)
      .toSorted(byText),
  }))
  return scopes.filter(({ metrics }) => metrics.length > 0).toSorted(byText)
}

const attributes: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record(
    { a: fc.constantFrom("x", "y"), b: fc.constantFrom(1, true, "1"), c: fc.constantFrom(["p"], ["q"]) },
    { requiredKeys: [] },
  ),
  fc.constant({ b: 1, a: "x" }),
)
const measurement = fc.record({
  instrument: fc.nat(4),
  value: fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom(0.5, 1.5, 10_001)),
  attributes,
})

test.each([AggregationTemporality.CUMULATIVE, AggregationTemporality.DELTA])(
  "what is exported is what the SDK's own instruments export (temporality %s)",
  async (temporality) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(measurement, { maxLength: 20 }), { maxLength: 3 }), async (rounds) => {
        const ours = open(temporality)
        const theirs = open(temporality)
        const sdk = new MeterProvider(theirs)
        const meters = createMeters(ours.resource, ours.readers)
        const both = [meters.provider, sdk].map((provider) => instrumentsOf(provider.getMeter("m", "1")))
        const bind = meters.histogram("n", "bound", { unit: "s" })
        const bound = sdk.getMeter("n").createHistogram("bound", { unit: "s" })
        both[0]?.push((value, of) => bind(of)(value))
        both[1]?.push((value, of) => bound.record(value, of))
        for (const round of rounds) {
          for (const { instrument, value, attributes: of } of round) {
            for (const instruments of both) instruments[instrument]?.(value, of)
          }
          expect(await exported(ours.reader, temporality)).toEqual(await exported(theirs.reader, temporality))
        }
      }),
      { numRuns: 100 },
    )
  },
)
