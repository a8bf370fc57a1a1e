import { randomBytes, randomUUID } from "node:crypto"
import { metrics } from "@opentelemetry/api"
import { createClientAddress, createLogger, type Logger, runService, serve } from "@svc/http"
import { openLimits } from "@svc/limits"
import { createVerifier, remoteKeys } from "@svc/session-token"
import { clientSpan, startTelemetry } from "@svc/telemetry"
import { Agent } from "undici"
import manifest from "../package.json" with { type: "json" }
import { createAdmission } from "./admission.ts"
import { createApp } from "./app.ts"
import { createLoopbackAuthPlugin, createSignedSessionAuthPlugin, type HttpAuthPlugin } from "./auth.ts"
import { type Config, readConfig } from "./config.ts"
import { createMetering } from "./metering.ts"
import { createMetrics, observeKeys, observeLimits, observeReads } from "./metrics.ts"
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

let keysFetchedAt: number | undefined
const fetchKeys: typeof fetch = (...asked) =>
  clientSpan("GET session keys", {}, async () => {
    const response = await fetch(...asked)
    if (response.ok) keysFetchedAt = now()
    return response
  })

const chooseAuth = (config: Config, log: Logger): { auth: HttpAuthPlugin; keysKnown: () => boolean } => {
  const onProblem = (reason: string) => log.warn({ reason }, "the session keys could not be read from their URL")
  const keys =
    config.publicKeys ??
    (config.jwksUrl === undefined ? undefined : remoteKeys({ url: config.jwksUrl, fetch: fetchKeys, now, onProblem }))
  if (keys !== undefined) {
    const { issuer, audiences } = config
    const auth = createSignedSessionAuthPlugin(createVerifier({ keys, issuer, audiences, now: wallClock }))
    return { auth, keysKnown: () => keys.current() !== undefined }
  }
  log.warn("the relay is unprotected: everybody on this machine can use it (no SVC_SESSION_… key is set)")
  if (config.trustedProxies.length > 0) {
    log.warn("SVC_TRUSTED_PROXY_CIDRS is set on an unprotected relay: a proxy makes its loopback listener public")
  }
  return { auth: createLoopbackAuthPlugin(), keysKnown: () => true }
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
  observeKeys(meter, () => (keysFetchedAt === undefined ? undefined : (now() - keysFetchedAt) / 1000))
  return {
    config,
    ...chooseAuth(config, log),
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
  const telemetry = config.telemetry
    ? await startTelemetry({
        env: process.env,
        service: "svc-relay",
        version,
        instanceId: randomUUID(),
        prometheusPort: 9465,
        trustedProxies: config.trustedProxies,
        onProblem: (reason) => log.warn({ reason: reason.slice(0, 300) }, "the telemetry could not be exported"),
      })
    : undefined
  const transactions = await openTransactions(config, log)
  let draining = () => false
  let port = config.port
  const app = createApp({
    log,
    version,
    publicUrl: () => config.publicUrl ?? `http://localhost:${port}`,
    docsUrl: config.docsUrl,
    draining: () => draining(),
    keysKnown: () => transactions?.keysKnown() ?? true,
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
    observe: telemetry?.observe,
    requests: { log, now, randomId: requestId, quiet: ["/health", "/livez", "/readyz"] },
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
