import { type Logger, createClientAddress, serve, type ServeOptions } from "@svc/http"
import { createLimiter } from "@svc/limits"
import type { McpServerFactory } from "@modelcontextprotocol/server"
import { createApp, probeAnswer, unreadableAnswer } from "./app.ts"
import { type Config, ownContent } from "./config.ts"
import { type Corpus, CorpusError, loadCorpus } from "./corpus.ts"
import { createEndpoint, createSdkEndpoint } from "./endpoint.ts"
import { createGuard } from "./guard.ts"
import { createDocsServer } from "./mcp.ts"
import type { Metrics } from "./metrics.ts"
import { createSdkExchange } from "./sdk-exchange.ts"
import { createSite } from "./site.ts"
import { createStreams } from "./streams.ts"
import { watchFolder } from "./watch.ts"

export type World = {
  readonly log: Logger
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly randomId: () => string
  /** Unset while it is off. */
  readonly telemetry?: { readonly observe: ServeOptions["observe"]; readonly metrics: Metrics } | undefined
}

const drainMs = 5000

/**
 * Reads the pages and serves them until `close`. Rejects when the pages can't be read or the port can't be had.
 * @param factory another MCP server behind the same HTTP layer
 */
export const startServer = async (config: Config, version: string, world: World, factory?: McpServerFactory) => {
  const { log, now, randomId, telemetry } = world
  const ready = Promise.withResolvers<ReturnType<typeof createApp>>()
  // Nobody may be waiting when the start fails: the error is the caller's, below.
  ready.promise.catch(() => {})
  let reading = true
  // The port comes first: a server told to take any free one names itself by it. Probes are answered meanwhile.
  const running = await serve({
    fetch: async (request, env) => {
      if (reading && env.incoming.url === "/livez") return probeAnswer([])
      if (reading && env.incoming.url === "/readyz") return probeAnswer(["pages"])
      return (await ready.promise).fetch(request, env)
    },
    host: config.host,
    port: config.port,
    drainMs,
    bounds: config.bounds,
    observe: telemetry?.observe,
    requests: { log, now, randomId, quiet: ["/health", "/livez", "/readyz"] },
    onUnreadable: unreadableAnswer,
  })
  const streams = createStreams()
  telemetry?.metrics.observeStreams(streams.size)
  const stops: (() => Promise<void>)[] = [async () => streams.closeAll()]
  const close = async (): Promise<void> => {
    const closing = running.close()
    await Promise.all(stops.map((stop) => stop()))
    await closing
  }
  try {
    const baseUrl = config.publicUrl ?? `http://localhost:${running.port}`
    const own = config.docsDir === ownContent
    const people = { title: config.title, own, apiUrl: config.apiUrl, relayUrl: config.relayUrl }
    const fill = { base_url: baseUrl, api_url: config.apiUrl, relay_url: config.relayUrl }
    const read = () => loadCorpus(config.docsDir, own ? { fill } : {})
    const first = await read()
    for (const warning of first.warnings) log.warn(warning)

    const sdk = await createSdkExchange(factory ?? (() => createDocsServer(site.library, version)), (error) =>
      log.debug({ reason: error.message }, "mcp request refused"),
    )
    stops.push(() => sdk.close())
    const about = { baseUrl, version, protocolVersions: sdk.protocolVersions }
    const siteOf = (corpus: Corpus) => {
      const made = createSite(corpus, about, people)
      if (telemetry === undefined) return made
      const { library } = made
      return { ...made, library: { ...library, search: telemetry.metrics.measureSearch(library.search) } }
    }
    let site = siteOf(first)
    if (config.watch) {
      const readAgain = async (): Promise<void> => {
        try {
          const corpus = await read()
          site = siteOf(corpus)
          log.info({ pages: corpus.pages.size }, "pages read again")
        } catch (error) {
          log.error(
            { reason: error instanceof CorpusError ? error.message : String(error) },
            "pages not read: the last good ones stay",
          )
        }
      }
      const onTrouble = (reason: string) => log.warn({ reason }, "the system cannot watch the pages")
      const stopWatching = watchFolder(config.docsDir, readAgain, { onTrouble })
      stops.push(async () => stopWatching())
    }

    const endpoint = factory === undefined ? createEndpoint(sdk, () => site.library) : createSdkEndpoint(sdk)
    ready.resolve(
      createApp({
        site: () => site,
        endpoint:
          telemetry?.metrics.measureEndpoint(endpoint, (request, { header }) =>
            sdk.eraOf(request, header("mcp-protocol-version")),
          ) ?? endpoint,
        protocolVersions: sdk.protocolVersions,
        streams,
        guard: createGuard({ listenHost: config.host, baseUrl, allowedHosts: config.allowedHosts }),
        clientAddress: createClientAddress(config.trustedProxies, log),
        limiter: createLimiter({ now }),
        requestsPerMinute: config.requestsPerMinute,
        tarballs: config.tarballs,
        version,
        log,
      }),
    )
    reading = false
    return { baseUrl, port: running.port, pages: first.pages.size, close }
  } catch (error) {
    ready.reject(error)
    await close()
    throw error
  }
}
