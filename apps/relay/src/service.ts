import { metrics } from "@opentelemetry/api"
import { serve } from "@svc/http"
import { createLogger, type Logger, type Runtime } from "@svc/program"
import { limitsModes, openLimits } from "@svc/limits"
import { createVerifier, remoteKeys } from "@svc/session-token"
import { clientSpan, observeLimits, outsideRequests, startTelemetry } from "@svc/telemetry"
import { Agent, fetch } from "undici"
import manifest from "../package.json" with { type: "json" }
import { createAdmission } from "./admission.ts"
import { createApp } from "./app.ts"
import { createLoopbackAuthPlugin, createProxyWarning, createSignedSessionAuthPlugin } from "./auth.ts"
import { describeChain, createChain } from "./chain.ts"
import { type Config, readConfig } from "./config.ts"
import { createMetering } from "./usage/metering.ts"
import { checkChains, providersOf } from "./providers.ts"
import { createMetrics, observeKeys, observeReads } from "./metrics.ts"
import { commonHeaders, unreadableResponse } from "./answers.ts"
import { openUpstreams } from "./upstream/upstreams.ts"
import { createUsage } from "./usage/usage.ts"
import { createDelivery, createPostUsage } from "./usage/delivery.ts"

const { version } = manifest

const chooseAuth = (config: Config, log: Logger, { now, wallClock }: Runtime) => {
  const { jwksUrl, issuer, audiences } = config
  let fetchedAt: number | undefined
  // All requests share the keys, so no request's trace has the fetch.
  const observe = (load: () => Promise<void>): Promise<void> =>
    outsideRequests(() =>
      clientSpan("GET session keys", {}, async () => {
        await load()
        fetchedAt = now()
      }),
    )
  const remote = (url: string) => {
    const { host } = new URL(url)
    const onProblem = (reason: string) => log.warn({ host, reason }, "the session keys could not be fetched")
    return remoteKeys({ url, fetch, now, observe, onProblem })
  }
  const keys = config.publicKeys ?? (jwksUrl === undefined ? undefined : remote(jwksUrl))
  if (keys !== undefined) {
    return {
      auth: createSignedSessionAuthPlugin(createVerifier({ keys, issuer, audiences, now: wallClock })),
      keysKnown: () => keys.current() !== undefined,
      /** In seconds, of those from a URL. */
      keysAge: () => (fetchedAt === undefined ? undefined : (now() - fetchedAt) / 1000),
    }
  }
  log.warn("the relay is unprotected: everybody on this machine can use it (no SVC_SESSION_… key is set)")
  if (config.trustedProxies.length > 0) {
    log.warn("SVC_TRUSTED_PROXY_CIDRS is set on an unprotected relay: a proxy makes its loopback listener public")
  }
  const onUnprotected = createProxyWarning(log)
  return { auth: createLoopbackAuthPlugin(), onUnprotected, keysKnown: () => true, keysAge: () => undefined }
}

const openTransactions = async (config: Config, log: Logger, runtime: Runtime) => {
  if (!config.enabled || config.upstreamUrl === undefined) return undefined
  const { now, wallClock, random, randomId } = runtime
  const usageAgent = new Agent()
  const usage =
    config.usage &&
    createUsage({
      capacity: config.usage.capacity,
      delivery: createDelivery(createPostUsage(usageAgent, config.usage.endpoint, config.usage.token.reveal()), random),
      onLoss: (loss) => log.warn(loss, "usage records were lost"),
    })
  const { upstreamUrl, readFallbackUrls: fallbacks, sendUrl: send } = config
  const { first, exclude, reads, sender, redact, close } = openUpstreams(
    { first: upstreamUrl, fallbacks, send },
    now,
    log,
  )
  const genesisHash = createChain(first, now)
  const connect = () => import("redis")
  const about = { service: "relay", replicaId: randomId(), now, connect, log, call: clientSpan } as const
  const limits = await openLimits(config.limits, about)
  const { auth, keysKnown, keysAge, onUnprotected } = chooseAuth(config, log, runtime)
  const meter = metrics.getMeter("svc.relay", version)
  observeLimits(meter, limitsModes, limits.mode)
  observeReads(meter, reads.count, reads.answering)
  observeKeys(meter, keysAge)
  return {
    config,
    auth,
    keysKnown,
    onUnprotected,
    admission: createAdmission(config, limits),
    limitsMode: limits.mode,
    chain: async () => {
      const hash = await genesisHash()
      return hash === undefined ? undefined : describeChain(hash, config)
    },
    exclude,
    reads,
    sender,
    redact,
    metering: createMetering({ metrics: createMetrics(meter), usage, now, wallClock, randomId }),
    usage,
    close: () => Promise.all([close(), limits.close(), usageAgent.destroy()]),
  }
}

const recheckMs = 60_000

/**
 * Warns of a provider on another chain than the first one, which reads don't use then, and of a clock that is wrong. A provider that
 * doesn't report its chain is asked again.
 */
const checkProviders = async (
  config: Config,
  log: Logger,
  exclude: (url: string) => void,
  runtime: Runtime,
): Promise<void> => {
  const { chains, clock } = await checkChains(providersOf(config), runtime.wallClock)
  for (const finding of [...chains.map((chain) => chain.finding), ...clock]) {
    if (finding?.verdict === "fail") log.warn({ next: finding.next }, finding.text)
  }
  const isFirstKnown = chains[0]?.finding !== undefined
  for (const { provider, finding } of chains) if (isFirstKnown && finding?.verdict === "fail") exclude(provider.url)
  if (config.readFallbackUrls.length === 0 || chains.every(({ finding }) => finding !== undefined)) return
  setTimeout(() => void checkProviders(config, log, exclude, runtime), recheckMs).unref()
}

/** Starts the relay. Rejects if it can't start; the message is for the operator. */
export const startService = async (runtime: Runtime) => {
  const { env, now, randomId } = runtime
  const config = await readConfig(env)
  const log = await createLogger({ level: config.logLevel, pretty: runtime.terminal, service: "relay" })
  const telemetry = await startTelemetry(config, runtime, { service: "svc-relay", version, prometheusPort: 9465, log })
  const transactions = await openTransactions(config, log, runtime)
  const server = await serve({
    host: config.host,
    port: config.port,
    probePort: config.probePort,
    // A little longer than the longest upstream timeout, so that the last response is still sent.
    drainMs: Math.max(...Object.values(config.timeoutMs)) + 500,
    bounds: config.bounds,
    headers: commonHeaders,
    trustedProxies: config.trustedProxies,
    observe: telemetry?.observe,
    requests: { log, now, randomId, quiet: ["/health", "/livez", "/readyz"] },
    onUnreadable: unreadableResponse(config.docsUrl),
  })
  const app = createApp({
    log,
    version,
    publicUrl: config.publicUrl ?? server.url,
    docsUrl: config.docsUrl,
    draining: server.draining,
    keysKnown: transactions?.keysKnown ?? (() => true),
    transactions,
    onUnprotected: transactions?.onUnprotected,
  })
  server.handle(app.fetch)
  log.info({ host: server.host, port: server.port, transactions: config.enabled }, "listening")
  if (transactions !== undefined) void checkProviders(config, log, transactions.exclude, runtime)
  const close = async (): Promise<void> => {
    await server.close()
    // A send whose client has left has no connection any more, but it still continues.
    await app.idle()
    await transactions?.usage?.flush()
    await Promise.all([transactions?.close(), telemetry?.stop()])
  }
  return { log, close }
}
