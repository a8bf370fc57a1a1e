import { allowedMethods, requestContext, sentPath } from "@svc/http"
import { type Logger } from "@svc/program"
import type { LimitsMode } from "@svc/limits"
import { createApi } from "@svc/openapi"
import type { ProxyWarning } from "./auth.ts"
import type { Chain } from "./chain.ts"
import { describeRelay, describeRoute } from "./document.ts"
import { errors } from "./errors.ts"
import { createRelay, type RelayDependencies, type RelayEnv } from "./relay.ts"
import { errorResponse, apiErrorOf } from "./answers.ts"
import { upstreamName } from "./metrics.ts"
import { about, health, livez, openapi, readyz } from "./routes/service.ts"
import { routes } from "./routes/table.ts"

export type Dependencies = {
  readonly log: Pick<Logger, "error">
  readonly version: string
  readonly publicUrl: string
  /** The URL of the documentation. */
  readonly docsUrl: string
  readonly draining: () => boolean
  /** Whether tokens can be verified, if they are required. */
  readonly keysKnown: () => boolean
  /** The dependencies of the routes in the table. Without them the routes are unknown paths. */
  readonly transactions:
    | (RelayDependencies & {
        readonly limitsMode: () => LimitsMode
        /** The provider's chain; undefined if it isn't known. */
        readonly chain: () => Promise<Chain | undefined>
      })
    | undefined
  /** Called for each request of an unprotected relay. */
  readonly onUnprotected: ProxyWarning | undefined
}

const isWebSocket = (method: string, upgrade: string | undefined): boolean =>
  method === "GET" && upgrade !== undefined && /(^|,)\s*websocket\s*(,|$)/i.test(upgrade)

/** The relay's HTTP app. `idle` resolves once no request on a route is in progress, even one whose client has left. */
export const createApp = (dependencies: Dependencies) => {
  const { log, transactions, draining, version, publicUrl: url, docsUrl: docs } = dependencies
  const app = createApi<RelayEnv>({ getPath: sentPath })

  app.use(requestContext)
  app.openapi(livez, (c) => c.json({ status: "ok" as const, missing: [] }, 200))
  app.openapi(readyz, (c) => {
    const missing = draining() ? (["time"] as const) : dependencies.keysKnown() ? [] : (["session-keys"] as const)
    if (missing.length === 0) return c.json({ status: "ok" as const, missing: [] }, 200)
    return c.json({ status: "unavailable" as const, missing: [...missing] }, 503)
  })
  app.use((c, next) => {
    dependencies.onUnprotected?.((name) => c.req.header(name), c.get("isProxied"))
    if (c.env.isLate) {
      const headers = { connection: "close" }
      throw errors.fail("server_busy", { message: "The relay is stopping.", retryAfterSeconds: 1, headers })
    }
    if (isWebSocket(c.req.method, c.req.header("upgrade"))) throw errors.fail("not_implemented")
    return next()
  })
  app.openapi(health, async (c) => {
    const { reads } = transactions ?? {}
    const chain = c.req.valid("query").chain === "true" ? await transactions?.chain() : undefined
    const body = {
      status: "ok" as const,
      version,
      limits: transactions?.limitsMode() ?? "local",
      transactions: {
        enabled: transactions !== undefined,
        ...(reads !== undefined && reads.count > 1 && { answering: upstreamName(reads.answering()) }),
        ...(chain !== undefined && { chain }),
      },
    }
    return c.json(body, 200)
  })
  // A visit to the bare address gets no 404.
  app.openapi(about, (c) =>
    c.json({ name: "svc-relay", version, docs, openapi: `${url}/openapi.json`, health: `${url}/health` }, 200),
  )
  const relay = transactions && createRelay(transactions)
  for (const route of routes) {
    if (relay !== undefined) route.register(app, relay)
    else {
      const { middleware: _, ...described } = describeRoute(route, [])
      app.openAPIRegistry.registerPath(described)
    }
  }
  let known: ReturnType<typeof describeRelay> | undefined
  const document = () => (known ??= describeRelay(app, version, url))
  app.openapi(openapi, (c) => c.json(document(), 200))

  app.notFound((c) => {
    const allowed = allowedMethods(app, c.req.path)
    if (allowed.length === 0) throw errors.fail("not_found")
    const Allow = allowed.join(", ")
    if (c.req.method !== "OPTIONS") throw errors.fail("method_not_allowed", { headers: { Allow } })
    return c.body(null, 204, {
      Allow,
      "Access-Control-Allow-Methods": "POST, OPTIONS",
      "Access-Control-Allow-Headers": "Authorization, Content-Type",
      "Access-Control-Max-Age": "600",
    })
  })

  app.onError((error, c) => {
    const apiError = apiErrorOf(error)
    if (apiError.code === "internal_error") {
      const { cause } = apiError
      // Only the name and the stack: the message and other members of an error could contain the transaction.
      const [name, text = ""] = cause instanceof Error ? [cause.name, cause.stack] : [typeof cause]
      log.error(
        { error: name, stack: text.split("\n").filter((line) => line.startsWith("    at ")) },
        "a request failed",
      )
    }
    return errorResponse(c, apiError, docs)
  })

  return { fetch: app.fetch, document, idle: async () => relay?.idle() }
}
