import type { McpServerFactory } from "@modelcontextprotocol/server"
import { metrics as telemetryApi } from "@opentelemetry/api"
import { logRequest, serve } from "@svc/http"
import { createLogger, type Runtime } from "@svc/program"
import { createLocalLimits } from "@svc/limits"
import { startTelemetry } from "@svc/telemetry"
import manifest from "../package.json" with { type: "json" }
import { probeAnswer, unreadableAnswer } from "./answers.ts"
import { createApp } from "./app.ts"
import { ownContent, ownFacts, readConfig } from "./config.ts"
import { type Corpus, CorpusError, hashOf, loadCorpus } from "./corpus/corpus.ts"
import { createGuard } from "./guard.ts"
import { createDocsServer } from "./mcp/mcp.ts"
import { createMetrics } from "./metrics.ts"
import { rememberAnswers } from "./mcp/repeated.ts"
import { createSdk } from "./mcp/sdk.ts"
import { createRegistry } from "./site/registry.ts"
import { createSite } from "./site/site.ts"
import { bundles } from "@svc/site"
import { createStreams } from "./mcp/streams.ts"
import { folderState, watchFolder } from "./corpus/watch.ts"

const { version } = manifest

const drainMs = 5000
const localChainUrl = "http://localhost:8899"

/**
 * Reads the pages and serves them until `close`. Rejects if the pages can't be read or the port is in use.
 * @param factory another MCP server behind the same HTTP layer
 */
export const startService = async (runtime: Runtime, factory?: McpServerFactory) => {
  const { env, now, randomId } = runtime
  const config = readConfig(env)
  const log = await createLogger({ level: config.logLevel, pretty: runtime.terminal, service: "docs-server" })
  const telemetry = await startTelemetry(config, runtime, {
    service: "svc-docs-server",
    version,
    prometheusPort: 9464,
    log,
  })
  const metrics = telemetry && createMetrics(telemetryApi.getMeter("svc.docs", version))
  const server = await serve({
    host: config.host,
    port: config.port,
    drainMs,
    bounds: config.bounds,
    trustedProxies: config.trustedProxies,
    observe: telemetry?.observe,
    requests: { log, now, randomId, quiet: ["/health", "/livez", "/readyz"] },
    onUnreadable: unreadableAnswer(config.publicUrl ?? ""),
  })
  const ready = Promise.withResolvers<ReturnType<typeof createApp>>()
  // Avoid an unhandled rejection if the start fails: startService itself throws.
  ready.promise.catch(() => {})
  // While the pages are being read, probes are answered and other requests wait.
  const probes = new Map<string, readonly string[]>([
    ["/livez", []],
    ["/readyz", ["pages"]],
  ])
  server.handle(async (request, exchange) => {
    const { url = "" } = exchange.incoming
    const missing = probes.get(url)
    if (missing === undefined) return (await ready.promise).fetch(request, exchange)
    exchange.route = url
    const response = probeAnswer(missing)
    logRequest(exchange, response.status)
    return response
  })
  const streams = createStreams()
  metrics?.observeStreams(streams.size)
  const stops: (() => Promise<void>)[] = [async () => streams.closeAll()]
  const close = async (): Promise<void> => {
    const closing = server.close()
    await Promise.all(stops.map((stop) => stop()))
    await closing
    await telemetry?.stop()
  }
  try {
    const baseUrl = config.publicUrl ?? server.url
    const own = config.docsDir === ownContent
    const { apiUrl, relayUrl, streamUrl, chainUrl, viewerKey, homeView, title, editUrl } = config
    const htmlOptions = { title, version, editUrl, own, apiUrl, relayUrl, streamUrl, viewerKey, homeView }
    if (bundles.site.length === 0) log.warn("the pages have no scripts: run `pnpm build`")
    const services = { api_url: apiUrl, relay_url: relayUrl, stream_url: streamUrl }
    const fill = { base_url: baseUrl, ...services, chain_url: chainUrl ?? localChainUrl, ...ownFacts }
    const read = () => loadCorpus(config.docsDir, own ? { fill, baseUrl } : { baseUrl })
    const watched = config.watch ? await folderState(config.docsDir) : undefined
    const first = await read()
    for (const warning of first.warnings) log.warn(warning)

    const sdk = await createSdk(factory ?? (() => createDocsServer(site.library, version)), (error) =>
      log.debug({ reason: error.message }, "mcp request refused"),
    )
    stops.push(() => sdk.close())
    const openApi = (): unknown => app.document(baseUrl)
    const about = { baseUrl, version, protocolVersions: sdk.protocolVersions, openApi }
    let folder = first
    const registry = own
      ? createRegistry({
          readFrom: config.internalApiUrl ?? apiUrl,
          apiUrl,
          baseUrl,
          now,
          wallClock: runtime.wallClock,
          log,
          onChange: () => {
            site = siteOf(folder)
          },
        })
      : undefined
    if (registry !== undefined) metrics?.observePlatform(registry.isAnswering)
    stops.push(async () => registry?.close())
    const siteOf = (corpus: Corpus) => {
      const stacks = registry?.copy()
      const whole =
        stacks === undefined
          ? corpus
          : {
              ...corpus,
              pages: new Map([...corpus.pages, ...stacks.pages]),
              version: hashOf(`${corpus.version} ${stacks.version}`).slice(0, 16),
            }
      const made = createSite(whole, about, { ...htmlOptions, registry })
      const { library } = made
      const search = metrics?.measureSearch(library.search) ?? library.search
      return { ...made, library: { ...library, search } }
    }
    let site = siteOf(first)
    if (watched !== undefined) {
      const readAgain = async (): Promise<void> => {
        try {
          folder = await read()
          site = siteOf(folder)
          log.info({ pages: folder.pages.size }, "pages read again")
        } catch (error) {
          const reason = error instanceof CorpusError ? error.message : String(error)
          log.error({ reason }, "pages not read: the last good ones stay")
        }
      }
      const stopWatching = watchFolder(config.docsDir, watched, readAgain, now)
      stops.push(async () => stopWatching())
    }

    const answer = factory === undefined ? rememberAnswers(sdk.answer, () => site.library) : sdk.answer
    const app = createApp({
      site: () => site,
      refreshStacks: async () => registry?.refresh(),
      answer: metrics?.measureAnswers(answer) ?? answer,
      protocolVersions: sdk.protocolVersions,
      streams,
      guard: createGuard({ listenHost: config.host, baseUrl, allowedHosts: config.allowedHosts }),
      limits: createLocalLimits({ now }),
      config,
      copy: { docs_url: baseUrl, ...services, chain_url: chainUrl },
      version,
      log,
    })
    server.handle(app.fetch)
    ready.resolve(app)
    log.info({ url: baseUrl, host: server.host, port: server.port, pages: first.pages.size }, "listening")
    return { log, port: server.port, pages: first.pages.size, baseUrl, close }
  } catch (error) {
    ready.reject(error)
    await close()
    throw error
  }
}
