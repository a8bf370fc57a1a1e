import { randomUUID } from "node:crypto"
import { setFlagsFromString } from "node:v8"
import { metrics } from "@opentelemetry/api"
import { createLogger, runService } from "@svc/http"
import { startTelemetry } from "@svc/telemetry"
import manifest from "../package.json" with { type: "json" }
import { readConfig } from "./config.ts"
import { createMetrics } from "./metrics.ts"
import { startServer } from "./server.ts"

// Reading many pages makes much garbage: with a young generation that grows for it, the server keeps 60 MB more for good.
setFlagsFromString("--semi-space-growth-factor=1")

await runService(async () => {
  const config = readConfig(process.env)
  const log = await createLogger({ level: config.logLevel, pretty: process.stdout.isTTY, service: "docs-server" })
  const { version } = manifest
  const telemetry = config.telemetry
    ? await startTelemetry({
        env: process.env,
        service: "svc-docs-server",
        version,
        instanceId: randomUUID(),
        prometheusPort: 9464,
        trustedProxies: config.trustedProxies,
        onProblem: (reason) => log.warn({ reason: reason.slice(0, 300) }, "the telemetry could not be exported"),
      })
    : undefined
  const world = {
    log,
    now: () => performance.now(),
    randomId: randomUUID,
    telemetry: telemetry && {
      observe: telemetry.observe,
      metrics: createMetrics(metrics.getMeter("svc.docs", version)),
    },
  }
  const server = await startServer(config, version, world)
  log.info({ url: server.baseUrl, host: config.host, port: server.port, pages: server.pages }, "listening")
  const close = async (): Promise<void> => {
    await server.close()
    await telemetry?.stop()
  }
  return { log, close }
})
