// The services of this repository, one per row, and how Node runs each. Used by `pnpm start`, and by the image's health check and
// smoke test.

/** The services that have an image. */
export type App = "docs-server" | "relay" | "platform-api"

export type Service = {
  /** Its name for people, and the prefix of its log lines under `pnpm start`. */
  readonly name: string
  /** Its folder, from the repository's root. */
  readonly folder: `apps/${App}` | `packages/${string}`
  /** Listens here when `PORT` is unset. */
  readonly defaultPort: number
  /** Sets its port under `pnpm start`. */
  readonly portVariable: string
  /** The variable with its URL, for every service; none if only its port is needed. */
  readonly urlVariable?: string
  /** Its URL without port; by default `http://localhost`. */
  readonly urlHost?: string
  /** Services that it reads as soon as it runs, none of which needs another: `pnpm start` starts it after these. */
  readonly needs?: readonly string[]
  /** Returns 200 as long as the process serves requests, whatever its database does. */
  readonly livePath: string
  /** Returns 200 once the service can do its work. */
  readonly readyPath: string
  /** What a person finds there. */
  readonly offers: string
}

const probes = { livePath: "/livez", readyPath: "/readyz" }
const health = { livePath: "/health", readyPath: "/health" }

export const services: readonly Service[] = [
  {
    name: "docs",
    folder: "apps/docs-server",
    defaultPort: 4001,
    portVariable: "SVC_DOCS_PORT",
    urlVariable: "SVC_DOCS_URL",
    needs: ["platform"],
    ...probes,
    offers: "documentation: /llms.txt, over MCP at /mcp",
  },
  {
    name: "relay",
    folder: "apps/relay",
    defaultPort: 4002,
    portVariable: "SVC_RELAY_PORT",
    urlVariable: "SVC_RELAY_URL",
    needs: ["platform", "chain"],
    ...probes,
    offers: "transaction relay: /openapi.json",
  },
  {
    name: "platform",
    folder: "apps/platform-api",
    defaultPort: 4003,
    portVariable: "SVC_API_PORT",
    urlVariable: "SVC_API_URL",
    ...probes,
    offers: "agent platform API: /api/registry, /openapi.json",
  },
  {
    name: "chain",
    folder: "packages/local-chain",
    defaultPort: 8899,
    portVariable: "SVC_CHAIN_PORT",
    ...health,
    offers: "local Solana chain, JSON-RPC",
  },
  {
    name: "stream",
    folder: "packages/local-stream",
    defaultPort: 4004,
    portVariable: "SVC_STREAM_PORT",
    urlVariable: "SVC_STREAM_URL",
    urlHost: "ws://127.0.0.1",
    needs: ["platform", "chain"],
    ...health,
    offers: "live data of every stack on the local chain: /transfers",
  },
]

/** How Node's allocator is set under `pnpm start`, and by the Dockerfile in the images: each service uses about 10 MB less. */
export const allocatorSettings = { MALLOC_ARENA_MAX: "2" }

/** The host by which this machine reaches a service with this `HOST`, as in a URL. */
export const reachableHost = (host = ""): string => {
  if (["", "0.0.0.0", "::"].includes(host)) return "127.0.0.1"
  return host.includes(":") ? `[${host}]` : host
}
