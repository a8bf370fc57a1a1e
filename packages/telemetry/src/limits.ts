import type { Meter } from "@opentelemetry/api"

/** Shows where the limits are counted: 1 for that mode, 0 for the others. */
export const observeLimits = <Mode extends string>(meter: Meter, modes: readonly Mode[], current: () => Mode): void => {
  const gauge = meter.createObservableGauge("svc.limits.mode", {
    description:
      "1 for the current mode: a store counts the limits for all replicas (shared), or each replica counts (local).",
  })
  gauge.addCallback((result) => {
    for (const mode of modes) result.observe(current() === mode ? 1 : 0, { mode })
  })
}
