import { ApiError } from "@svc/errors"
import { allowedMethods, type Logger, requestContext, requestHeader, routed, sentPath } from "@svc/http"
import type { LimitsMode } from "@svc/limits"
import { type Context, Hono } from "hono"
import { describeRelay } from "./document/document.ts"
import { errors } from "./errors.ts"
import { createHandler, type HandlerDependencies, type RelayEnv } from "./handle.ts"
import { answerHeaders, errorAnswer, errorBody, jsonAnswer } from "./answers.ts"
import { upstreamName } from "./metrics.ts"
import { routes } from "./routes/table.ts"

export type Dependencies = {
  readonly log: Pick<Logger, "error">
  readonly version: string
  readonly publicUrl: string
  /** Where the documentation is. */
  readonly docsUrl: string
  readonly draining: () => boolean
  /** Whether tokens can be verified, where they have to be. */
  readonly keysKnown: () => boolean
  /** What the routes of the table need; without it they are unknown paths. */
  readonly transactions: (Omit<HandlerDependencies, "onBug"> & { readonly limitsMode: () => LimitsMode }) | undefined
  /** Called for each request of an unprotected relay. */
  readonly onUnprotected: ((c: Context<RelayEnv>) => void) | undefined
}

const isWebSocket = (method: string, upgrade: string | undefined): boolean =>
  method === "GET" && upgrade !== undefined && /(^|,)\s*websocket\s*(,|$)/i.test(upgrade)

/** The relay's HTTP side. `idle` resolves once no request on a route is under way, its client gone or not. */
export const createApp = (dependencies: Dependencies) => {
  const { log, transactions, draining } = dependencies
  const app = new Hono<RelayEnv>({ getPath: sentPath })
  app.use(requestContext)
  const onBug = (error: unknown): void => {
    // Only its name and where it happened: what else an error carries, its message too, could be the transaction.
    const [name, stack = ""] = error instanceof Error ? [error.name, error.stack] : [typeof error]
    log.error(
      { error: name, stack: stack.split("\n").filter((line) => line.startsWith("    at ")) },
      "a request failed",
    )
  }
  let running = 0
  let onIdle = () => {}

  // Called by each handler rather than as a middleware: every layer around a handler costs each request.
  const turnAway = (c: Context<RelayEnv>): void => {
    dependencies.onUnprotected?.(c)
    if (draining()) throw errors.fail("server_busy", { retryAfterSeconds: 1, headers: { connection: "close" } })
    if (isWebSocket(c.req.method, requestHeader(c, "upgrade"))) throw errors.fail("not_implemented")
  }

  const getHealth = (c: Context<RelayEnv>): Response => {
    turnAway(c)
    const { reads } = transactions ?? {}
    const health = {
      status: "ok",
      version: dependencies.version,
      limits: transactions?.limitsMode() ?? "local",
      transactions: {
        enabled: transactions !== undefined,
        ...(reads !== undefined && reads.count > 1 && { answering: upstreamName(reads.answering()) }),
      },
    }
    return jsonAnswer(c, JSON.stringify(health))
  }
  app.get("/health", routed(getHealth))
  const probeAnswer = (c: Context<RelayEnv>, missing: readonly string[]): Response => {
    const ok = missing.length === 0
    return jsonAnswer(c, JSON.stringify({ status: ok ? "ok" : "unavailable", missing }), ok ? 200 : 503)
  }
  app.get(
    "/livez",
    routed((c: Context<RelayEnv>) => probeAnswer(c, [])),
  )
  const getReadiness = (c: Context<RelayEnv>): Response => {
    if (draining()) return probeAnswer(c, ["time"])
    return probeAnswer(c, dependencies.keysKnown() ? [] : ["session-keys"])
  }
  app.get("/readyz", routed(getReadiness))
  // Nobody who looks at the bare address is met by a 404.
  const getAbout = (c: Context<RelayEnv>): Response => {
    turnAway(c)
    const url = dependencies.publicUrl
    const about = { name: "svc-relay", version: dependencies.version, docs: dependencies.docsUrl }
    return jsonAnswer(c, JSON.stringify({ ...about, openapi: `${url}/openapi.json`, health: `${url}/health` }))
  }
  app.get("/", routed(getAbout))
  let document: string | undefined
  const getDocument = (c: Context<RelayEnv>): Response => {
    turnAway(c)
    document ??= JSON.stringify(describeRelay(dependencies.version, dependencies.publicUrl))
    return jsonAnswer(c, document)
  }
  app.get("/openapi.json", routed(getDocument))

  if (transactions !== undefined) {
    const { metering } = transactions
    const handle = createHandler({ ...transactions, onBug })
    for (const route of routes) {
      const post = async (c: Context<RelayEnv>): Promise<Response> => {
        turnAway(c)
        const call = metering.begin(route)
        c.set("call", call)
        running++
        try {
          const outcome = await handle(c, route, call)
          const body = "error" in outcome ? errorBody(c, outcome.error) : outcome.body
          metering.end(route, call, outcome, Buffer.byteLength(body))
          return "error" in outcome ? errorAnswer(c, outcome.error, body) : jsonAnswer(c, body)
        } finally {
          if (--running === 0) onIdle()
        }
      }
      app.post(route.path, routed(post))
    }
  }

  app.notFound((c) => {
    turnAway(c)
    const allowed = allowedMethods(app, c.req.path)
    if (allowed.length === 0) return errorAnswer(c, errors.fail("not_found"))
    const Allow = allowed.join(", ")
    if (c.req.method !== "OPTIONS") return errorAnswer(c, errors.fail("method_not_allowed", { headers: { Allow } }))
    const headers = {
      ...answerHeaders(c),
      Allow,
      "Access-Control-Allow-Methods": "POST, OPTIONS",
      "Access-Control-Allow-Headers": "Authorization, Content-Type",
      "Access-Control-Max-Age": "600",
    }
    return new Response(null, { status: 204, headers })
  })

  app.onError((error, c) => {
    if (error instanceof ApiError) return errorAnswer(c, error)
    onBug(error)
    return errorAnswer(c, errors.fail("internal_error"))
  })

  const idle = async (): Promise<void> => {
    if (running > 0) await new Promise<void>((resolve) => (onIdle = resolve))
  }

  return { fetch: app.fetch, idle }
}
