import { expect, test } from "vitest"
import { startTelemetry } from "./start.ts"

const start = (env: Readonly<Record<string, string>>) =>
  startTelemetry(
    { telemetry: true, trustedProxies: [] },
    { env, randomId: () => "id" },
    { service: "svc-things", version: "1", prometheusPort: 9470, log: { warn: () => {} } },
  )

test("all settings that can't be used are named at once", async () => {
  const env = { OTEL_TRACES_SAMPLER_ARG: "2", OTEL_TRACES_EXPORTER: "zipkin", OTEL_METRIC_EXPORT_INTERVAL: "soon" }
  await expect(start(env)).rejects.toMatchObject({
    problems: [
      expect.stringContaining("OTEL_TRACES_SAMPLER_ARG"),
      expect.stringContaining("OTEL_TRACES_EXPORTER"),
      expect.stringContaining("OTEL_METRIC_EXPORT_INTERVAL"),
    ],
  })
})

test("OTEL_SDK_DISABLED switches it off", async () => {
  expect(await start({ OTEL_SDK_DISABLED: "TRUE", OTEL_TRACES_EXPORTER: "zipkin" })).toBeUndefined()
})
