import { metrics as telemetryApi } from "@opentelemetry/api"
import { createEventStreams, type Fetch, logRequest, type RunningServer, serve } from "@svc/http"
import { createLogger, type Logger, type Running, type Runtime } from "@svc/program"
import { createLocalLimits } from "@svc/limits"
import { startTelemetry } from "@svc/telemetry"
import manifest from "../package.json" with { type: "json" }
import { noStore, unreadableResponse } from "./answers.ts"
import { createApp } from "./app.ts"
import { type Config, drainMs, ownContent, ownFacts, readConfig } from "./config.ts"
import { type Corpus, CorpusError, hashOf, loadCorpus } from "./corpus/corpus.ts"
import { createGuard } from "./guard.ts"
import { createDocsServer } from "./mcp/mcp.ts"
import { createMetrics } from "./metrics.ts"
import { rememberAnswers } from "./mcp/repeated.ts"
import { createSdk } from "./mcp/sdk.ts"
import type { Search } from "./search/search.ts"
import { createRegistry, type Registry } from "./site/registry.ts"
import { createSite } from "./site/site.ts"
import { bundles } from "@svc/site"
import { folderState, watchFolder } from "./corpus/watch.ts"

const { version } = manifest

const localChainUrl = "http://localhost:8899"

/** What is missing, by the path of the probe, while the pages are being read. */
const probes = new Map<string, readonly string[]>([
  ["/livez", []],
  ["/readyz", ["pages"]],
])

/** Answers probes while the service starts. Other requests wait until `open` says who serves them. */
const holdRequests = (server: RunningServer) => {
  const ready = Promise.withResolvers<Fetch>()
  // Avoid an unhandled rejection if the start fails: startService itself throws.
  ready.promise.catch(() => {})
  server.handle(async (request, exchange) => {
    const { url = "" } = exchange.incoming
    const missing = probes.get(url)
    if (missing === undefined) return (await ready.promise)(request, exchange)
    exchange.route = url
    const [status, word] = missing.length === 0 ? [200, "ok"] : [503, "unavailable"]
    logRequest(exchange, status)
    return Response.json({ status: word, missing }, { status, headers: noStore })
  })
  const open = (fetch: Fetch): void => {
    server.handle(fetch)
    ready.resolve(fetch)
  }
  return { open, fail: ready.reject }
}

const withStacks = (corpus: Corpus, stacks: ReturnType<Registry["copy"]>): Corpus =>
  stacks === undefined
    ? corpus
    : {
        ...corpus,
        pages: new Map([...corpus.pages, ...stacks.pages]),
        version: hashOf(`${corpus.version} ${stacks.version}`).slice(0, 16),
      }

/**
 * Reads the pages and keeps the site up to date: with the registry's stacks, and with a folder that is watched.
 * @param about what the site says of the server
 * @param wrap adds measurements to the search
 */
const openSite = async (
  config: Config,
  { now, wallClock }: Runtime,
  log: Logger,
  about: Parameters<typeof createSite>[1],
  wrap: (search: Search) => Search,
) => {
  const { baseUrl } = about
  const own = config.docsDir === ownContent
  const { apiUrl, relayUrl, streamUrl, chainUrl = localChainUrl } = config
  const services = { api_url: apiUrl, relay_url: relayUrl, stream_url: streamUrl, chain_url: chainUrl }
  const fill = { base_url: baseUrl, ...services, ...ownFacts }
  const read = () => loadCorpus(config.docsDir, own ? { fill, baseUrl } : { baseUrl })
  const watched = config.watch ? await folderState(config.docsDir) : undefined
  let folder = await read()
  for (const warning of folder.warnings) log.warn(warning)
  const readFrom = config.internalApiUrl ?? apiUrl
  const registry = own
    ? createRegistry({ readFrom, apiUrl, baseUrl, now, wallClock, log, onChange: () => (site = make()) })
    : undefined
  const options = { ...config, version, own, registry }
  const make = () => {
    const made = createSite(withStacks(folder, registry?.copy()), about, options)
    return { ...made, library: { ...made.library, search: wrap(made.library.search) } }
  }
  let site = make()
  const readAgain = async (): Promise<void> => {
    try {
      folder = await read()
      site = make()
      log.info({ pages: folder.pages.size }, "pages read again")
    } catch (error) {
      const reason = error instanceof CorpusError ? error.message : String(error)
      log.error({ reason }, "pages not read: the last good ones stay")
    }
  }
  const stopWatching = watched === undefined ? undefined : watchFolder(config.docsDir, watched, readAgain, now)
  return {
    site: () => site,
    count: folder.pages.size,
    registry,
    close: (): void => {
      registry?.close()
      stopWatching?.()
    },
  }
}

/**
 * Reads the pages and serves them until `close`. Rejects if the pages can't be read or the port is in use.
 * @param onOpen called when the port is open, before the pages are read
 */
export const startService = async (runtime: Runtime, onOpen: (running: Running) => void = () => {}) => {
  const { env, now, randomId } = runtime
  const config = readConfig(env)
  const log = await createLogger({ level: config.logLevel, pretty: runtime.terminal, service: "docs-server" })
  const naming = { service: "svc-docs-server", version, prometheusPort: 9464, log }
  const telemetry = await startTelemetry(config, runtime, naming)
  const metrics = telemetry && createMetrics(telemetryApi.getMeter("svc.docs", version))
  const server = await serve({
    host: config.host,
    port: config.port,
    probePort: config.probePort,
    drainMs,
    bounds: config.bounds,
    trustedProxies: config.trustedProxies,
    observe: telemetry?.observe,
    requests: { log, now, randomId, quiet: ["/health", "/livez", "/readyz"] },
    onUnreadable: unreadableResponse(config.publicUrl ?? ""),
  })
  const requests = holdRequests(server)
  const stopping = new AbortController()
  const streams = createEventStreams({ stopping: stopping.signal })
  metrics?.observeStreams(streams.size)
  const stops: (() => unknown)[] = [() => stopping.abort()]
  const close = async (): Promise<void> => {
    const closing = server.close()
    await Promise.all(stops.map((stop) => stop()))
    await closing
    await telemetry?.stop()
  }
  onOpen({ log, close })
  try {
    const baseUrl = config.publicUrl ?? server.url
    const { apiUrl, relayUrl, streamUrl, chainUrl } = config
    if (bundles.site.length === 0) log.warn("the pages have no scripts: run `npx -y pnpm@12 build`")
    // What is made below is called by requests, which come later.
    const sdk = await createSdk(
      () => createDocsServer(site().library, version),
      (error) => log.debug({ reason: error.message }, "mcp request refused"),
    )
    stops.push(sdk.close)
    const { protocolVersions } = sdk
    const about = { baseUrl, version, protocolVersions, openApi: (): unknown => app.document(baseUrl) }
    const opened = await openSite(config, runtime, log, about, metrics?.measureSearch ?? ((search) => search))
    const { site, registry, count } = opened
    stops.push(opened.close)
    if (registry !== undefined) metrics?.observePlatform(registry.isAnswering)
    const answer = rememberAnswers(sdk.answer, () => site().library)
    const app = createApp({
      site,
      refreshStacks: async () => registry?.refresh(),
      answer: metrics?.measureAnswers(answer) ?? answer,
      protocolVersions,
      streams,
      guard: createGuard({ listenHost: config.host, baseUrl, allowedHosts: config.allowedHosts }),
      limits: createLocalLimits({ now }),
      config,
      copy: { docs_url: baseUrl, api_url: apiUrl, relay_url: relayUrl, stream_url: streamUrl, chain_url: chainUrl },
      version,
      log,
    })
    requests.open(app.fetch)
    log.info({ url: baseUrl, host: server.host, port: server.port, pages: count }, "listening")
    return { log, port: server.port, pages: count, baseUrl, close }
  } catch (error) {
    requests.fail(error)
    await close()
    throw error
  }
}
