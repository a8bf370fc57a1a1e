// What the peers of the three services have in common: Hono, zod-openapi and pino as their own documentation shows them. Every
// request has an id, a log line, a limit and validation.
import { serve } from "@hono/node-server"
import { OpenAPIHono } from "@hono/zod-openapi"
import type { Context } from "hono"
import { bodyLimit } from "hono/body-limit"
import { requestId, type RequestIdVariables } from "hono/request-id"
import { pino } from "pino"

export type PeerEnv = { Variables: RequestIdVariables }

// More than a load sends.
const mostPerMinute = 100_000_000

/** @param callerOf whose limit a request counts for */
export const createPeer = (callerOf: (c: Context) => string) => {
  const log = pino(pino.destination({ dest: "/dev/null", sync: false, minLength: 4096 }))
  const counts = new Map<string, number>()
  setInterval(() => counts.clear(), 60_000).unref()
  const app = new OpenAPIHono<PeerEnv>({
    defaultHook: (result, c) => (result.success ? undefined : c.json({ code: "invalid_request" }, 400)),
  })
  app.use(requestId())
  app.use(async (c, next) => {
    const began = performance.now()
    await next()
    const { method, path } = c.req
    const duration_ms = performance.now() - began
    log.info({ request_id: c.var.requestId, method, path, status: c.res.status, duration_ms }, "request")
  })
  app.use(async (c, next) => {
    const caller = callerOf(c)
    const count = (counts.get(caller) ?? 0) + 1
    counts.set(caller, count)
    return count > mostPerMinute ? c.json({ code: "rate_limited" }, 429) : next()
  })
  app.use(bodyLimit({ maxSize: 65_536 }))
  return app
}

/** Prints the port. */
export const listen = (app: OpenAPIHono<PeerEnv>): void => {
  serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`"port":${port}`))
}
