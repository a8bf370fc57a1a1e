import { metrics } from "@opentelemetry/api"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { getHeapSpaceStatistics } from "node:v8"

const seconds = (nanoseconds: number): number => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0)

/** Observes the process's metrics, by the semantic conventions for Node. Returns a function that stops it. */
export const observeProcess = (): (() => void) => {
  const meter = metrics.getMeter("svc.process")
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const p50 = meter.createObservableGauge("nodejs.eventloop.delay.p50", { unit: "s" })
  const p99 = meter.createObservableGauge("nodejs.eventloop.delay.p99", { unit: "s" })
  const max = meter.createObservableGauge("nodejs.eventloop.delay.max", { unit: "s" })
  const memory = meter.createObservableUpDownCounter("process.memory.usage", { unit: "By" })
  const processor = meter.createObservableCounter("process.cpu.time", { unit: "s" })
  const heap = meter.createObservableUpDownCounter("v8js.memory.heap.used", { unit: "By" })
  meter.addBatchObservableCallback(
    (result) => {
      result.observe(p50, seconds(delay.percentile(50)))
      result.observe(p99, seconds(delay.percentile(99)))
      result.observe(max, seconds(delay.max))
      delay.reset()
      result.observe(memory, process.memoryUsage.rss())
      const { user, system } = process.cpuUsage()
      result.observe(processor, user / 1e6, { "cpu.mode": "user" })
      result.observe(processor, system / 1e6, { "cpu.mode": "system" })
      for (const { space_name: name, space_used_size: used } of getHeapSpaceStatistics()) {
        result.observe(heap, used, { "v8js.heap.space.name": name })
      }
    },
    [p50, p99, max, memory, processor, heap],
  )
  return () => delay.disable()
}
