import type { Meter } from "@opentelemetry/api"

/** Shows where the limits are counted: 1 for that mode, 0 for the other. */
export const observeLimits = (meter: Meter, current: () => "shared" | "local"): void => {
  const gauge = meter.createObservableGauge("svc.limits.mode", {
    description:
      "1 for the current mode: a store counts the limits for all replicas (shared), or each replica counts (local).",
  })
  gauge.addCallback((result) => {
    for (const mode of ["shared", "local"] as const) result.observe(current() === mode ? 1 : 0, { mode })
  })
}
