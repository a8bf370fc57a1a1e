import { randomBytes, randomUUID } from "node:crypto"
import { metrics } from "@opentelemetry/api"
import { createClientAddress, createLogger, type Logger, runService, serve } from "@svc/http"
import { openLimits } from "@svc/limits"
import { createVerifier, remoteKeys } from "@svc/session-token"
import { Agent } from "undici"
import manifest from "../package.json" with { type: "json" }
import { createAdmission } from "./admission.ts"
import { createApp } from "./app.ts"
import { createLoopbackAuthPlugin, createSignedSessionAuthPlugin, type HttpAuthPlugin } from "./auth.ts"
import { type Config, readConfig } from "./config.ts"
import { createMetering } from "./metering.ts"
import { createMetrics, observeLimits, observeReads } from "./metrics.ts"
import { startTelemetry } from "./telemetry.ts"
import { openUpstreams } from "./upstreams.ts"
import { createUsage } from "./usage.ts"
import { createDelivery, createPostUsage } from "./usage-delivery.ts"

const { version } = manifest
const now = () => performance.now()
const wallClock = () => Date.now()

// A random start and a count: unique like a UUID, and far cheaper to write out.
const start = randomBytes(12).toString("hex")
let requests = 0
const requestId = () => `${start}-${(++requests).toString(36)}`

const chooseAuth = (config: Config, log: Logger): HttpAuthPlugin => {
  const onProblem = (reason: string) => log.warn({ reason }, "the session keys could not be read from their URL")
  const keys =
    config.publicKeys ??
    (config.jwksUrl === undefined ? undefined : remoteKeys({ url: config.jwksUrl, fetch, now, onProblem }))
  if (keys !== undefined) {
    const { issuer, audiences } = config
    return createSignedSessionAuthPlugin(createVerifier({ keys, issuer, audiences, now: wallClock }))
  }
  log.warn("the relay is unprotected: everybody on this machine can use it (no SVC_SESSION_… key is set)")
  if (config.trustedProxies.length > 0) {
    log.warn("SVC_TRUSTED_PROXY_CIDRS is set on an unprotected relay: a proxy makes its loopback listener public")
  }
  return createLoopbackAuthPlugin()
}

const openTransactions = async (config: Config, log: Logger) => {
  if (!config.enabled || config.upstreamUrl === undefined) return undefined
  const usageAgent = new Agent()
  const usage =
    config.usage &&
    createUsage({
      capacity: config.usage.capacity,
      delivery: createDelivery(
        createPostUsage(usageAgent, config.usage.endpoint, config.usage.token.reveal()),
        Math.random,
      ),
      onLoss: (loss) => log.warn(loss, "usage records were lost"),
    })
  const { upstreamUrl: first, readFallbackUrls: fallbacks, sendUrl: send } = config
  const { reads, sender, redact, close } = openUpstreams({ first, fallbacks, send }, now)
  const limits = await openLimits(config.limits, { service: "relay", replicaId: randomUUID(), now, log })
  const meter = metrics.getMeter("svc.relay", version)
  observeLimits(meter, limits)
  observeReads(meter, reads.count, reads.answering)
  return {
    settings: config,
    auth: chooseAuth(config, log),
    admission: createAdmission(config, limits),
    limitsMode: limits.mode,
    clientAddress: createClientAddress(config.trustedProxies, log),
    reads,
    sender,
    redact,
    metering: createMetering({
      metrics: createMetrics(meter),
      usage,
      now,
      wallClock,
      eventId: randomUUID,
    }),
    usage,
    close: () => Promise.all([close(), limits.close(), usageAgent.destroy()]),
  }
}

await runService(async () => {
  const config = await readConfig(process.env)
  const log = await createLogger({ level: config.logLevel, pretty: process.stdout.isTTY, service: "relay" })
  const onProblem = (reason: string) => log.warn({ reason: reason.slice(0, 300) }, "the metrics could not be exported")
  const telemetry = config.telemetry ? await startTelemetry(process.env, version, onProblem) : undefined
  const transactions = await openTransactions(config, log)
  let draining = () => false
  let port = config.port
  const app = createApp({
    log,
    version,
    publicUrl: () => config.publicUrl ?? `http://localhost:${port}`,
    draining: () => draining(),
    transactions,
  })
  // A little over the longest upstream timeout, so that the last answer still gets out.
  const drainMs = Math.max(...Object.values(config.timeoutMs)) + 500
  const server = await serve({
    ...app,
    host: config.host,
    port: config.port,
    drainMs,
    bounds: config.bounds,
    requests: { log, now, randomId: requestId, quiet: ["/health"] },
  })
  draining = server.draining
  port = server.port
  log.info({ host: server.host, port, transactions: config.enabled }, "listening")
  const close = async (): Promise<void> => {
    await server.close()
    // A send whose client has left has no connection any more, and still runs to its end.
    await app.idle()
    await transactions?.usage?.flush()
    await Promise.all([transactions?.close(), telemetry?.stop()])
  }
  return { log, close }
})
