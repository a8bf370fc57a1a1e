import { ApiError, BodyError } from "@svc/errors"
import { allowedMethods, requestContext, sentPath } from "@svc/http"
import { createApi, openApiDocument } from "@svc/openapi"
import type { Context } from "hono"
import { bodyError, errorResponse, everyAnswer, isOfDocumentation } from "./answers.ts"
import { type AppEnv, authenticated, policies } from "./auth/guard.ts"
import { CompilerBusy } from "./compiler/compiler.ts"
import { DatabaseUnavailable, OutcomeUnknown } from "./db/errors.ts"
import { errors, wrongField } from "./errors.ts"
import { AstTooLarge } from "./registry/ast/document-fault.ts"
import { agentRoutes } from "./routes/accounts/agents.ts"
import { buildRoutes } from "./routes/builds/builds.ts"
import { deploymentRoutes } from "./routes/deployments/deployments.ts"
import { type Api, createRoutes } from "./routes/api.ts"
import { headers, requestHeaders } from "./routes/create-route.ts"
import { healthRoutes } from "./routes/health.ts"
import { keyRoutes } from "./routes/accounts/keys.ts"
import { checkRoutes } from "./routes/registry/check.ts"
import { registryRoutes } from "./routes/registry/registry.ts"
import { astLinkRoutes } from "./routes/specs/ast-link.ts"
import { deploymentChangeRoutes } from "./routes/deployments/changes.ts"
import { runRoutes } from "./routes/runs/runs.ts"
import { runEventRoutes } from "./routes/runs/events.ts"
import { specChangeRoutes } from "./routes/specs/changes.ts"
import { specRoutes } from "./routes/specs/specs.ts"
import { sessionRoutes } from "./routes/accounts/ws-sessions.ts"
import { usageRoutes } from "./routes/accounts/usage.ts"
import type { Dependencies } from "./dependencies.ts"

const signUpPath = "/api/agents/signup"

const allRoutes = [
  healthRoutes,
  registryRoutes,
  checkRoutes,
  agentRoutes,
  keyRoutes,
  sessionRoutes,
  usageRoutes,
  specRoutes,
  buildRoutes,
  deploymentRoutes,
  runRoutes,
  runEventRoutes,
  specChangeRoutes,
  deploymentChangeRoutes,
  astLinkRoutes,
]

const methods = new Set(allRoutes.flatMap(({ routes }) => routes.map(({ method }) => method)))
const preflight = {
  "access-control-allow-methods": ["HEAD", ...methods].join(", "),
  // EventSource polyfills send Cache-Control.
  "access-control-allow-headers": [
    "Authorization",
    "Content-Type",
    "Accept",
    "Cache-Control",
    "X-Request-Id",
    ...requestHeaders,
  ].join(", "),
  "access-control-max-age": "86400",
}

/** The OpenAPI document of all routes. */
export const describe = ({ version, publicUrl }: Pick<Dependencies, "version" | "publicUrl">) => {
  const api = createRoutes()
  for (const routes of allRoutes) api.route("/", routes)
  api.openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "http",
    scheme: "bearer",
    description: "An API key: svc_ak_… (agent), svc_sk_… (person) or svc_pk_… (publishable, with the page's Origin)",
  })
  for (const [name, header] of Object.entries(headers)) api.openAPIRegistry.registerComponent("headers", name, header)
  return openApiDocument(
    api,
    {
      title: "Agent platform API",
      version,
      description:
        "Lets a software agent sign up, manage its keys, read the registry of data streams and mint session tokens for them.",
      tags: [
        { name: "service", description: "The service itself" },
        { name: "registry", description: "Published stacks. A key shows more of them" },
        { name: "agents", description: "Agent accounts" },
        { name: "keys", description: "An account's keys" },
        { name: "sessions", description: "Tokens for streams and the transaction relay" },
        { name: "records", description: "The caller's own records" },
      ],
    },
    [{ url: publicUrl }],
  )
}

/** The whole API. It reads nothing from the environment: `dependencies` holds everything it needs. */
export const createApp = (dependencies: Dependencies): Api => {
  const api = createApi<AppEnv>({ getPath: sentPath })
  api.use(requestContext)
  api.use(async (c, next) => {
    c.set("dependencies", dependencies)
    // Of a parameter that a query repeats the first counts, while validators would read all.
    if (c.req.url.includes("&")) {
      const first = Object.entries(c.req.query()).map(([name, value]) => [name, [value]])
      Object.assign(c.req, { queries: () => Object.fromEntries(first) })
    }
    await next()
    const key = c.get("usedKey")
    if (key !== undefined) dependencies.usage.count(key, c.res.status, c.req.path === "/ws/sessions")
  })
  const { log } = dependencies
  const { docsUrl } = dependencies.config

  api.all(signUpPath, async (c, next) => {
    // A response has a new account's key: only the documentation's own pages may read it.
    const isOwnPage = isOfDocumentation(c)
    const { outgoing } = c.env
    if (isOwnPage) outgoing.setHeader("access-control-allow-origin", new URL(docsUrl).origin)
    else for (const name of Object.keys(everyAnswer)) outgoing.removeHeader(name)
    outgoing.setHeader("vary", "Origin")
    if (c.req.method !== "OPTIONS") return next()
    return c.body(null, 204, { allow: "POST, OPTIONS", ...(isOwnPage && preflight) })
  })
  const allowed = (c: Context<AppEnv>): string => allowedMethods(api, c.req.path).join(", ")
  api.options("*", (c) => c.body(null, 204, { ...preflight, allow: allowed(c) }))

  for (const routes of allRoutes) api.route("/", routes)

  const missing = (c: Context<AppEnv>): ApiError => {
    const allow = allowed(c)
    return allow === "" ? errors.fail("not-found") : errors.fail("method-not-allowed", { headers: { allow } })
  }
  // Whatever else is asked below /api/auth/keys: agents learn nothing, whatever the body, and people what there is.
  for (const path of ["/api/auth/keys", "/api/auth/keys/*"])
    api.all(path, authenticated(policies.peoplesKeys), (c) => {
      throw missing(c)
    })

  // Built on the first request, because most processes never serve it.
  let document: string | undefined
  const documentHeaders = { "content-type": "application/json", "cache-control": "public, max-age=300" }
  api.get("/openapi.json", (c) => c.body((document ??= JSON.stringify(describe(dependencies))), 200, documentHeaders))

  const known = (error: Error, request_id: string): ApiError => {
    if (error instanceof ApiError) return error
    if (error instanceof BodyError) return bodyError(error.fault)
    if (error instanceof AstTooLarge) return wrongField("invalid-ast", error.path, error.reason)
    if (error instanceof CompilerBusy) {
      const message = "Your other requests with large ASTs are still being processed."
      return error.isOwn
        ? errors.fail("rate-limit-exceeded", { message, retryAfterSeconds: 1 })
        : errors.fail("service-unavailable", { retryAfterSeconds: 1 })
    }
    if (error instanceof DatabaseUnavailable) {
      log.warn({ request_id, reason: error.message }, "the database can't be used")
      return errors.fail("service-unavailable", { retryAfterSeconds: 1 })
    }
    if (error instanceof OutcomeUnknown) {
      log.error({ request_id, reason: error.message }, "the outcome of a transaction is unknown")
      return errors.fail("outcome-unknown")
    }
    // Log only the stack: database drivers attach statements and parameters to their errors.
    log.error({ request_id, stack: error.stack }, "a request failed")
    return errors.fail("internal-error")
  }
  api.notFound((c) => errorResponse(c, missing(c), docsUrl))
  api.onError((error, c) => errorResponse(c, known(error, c.var.requestId), docsUrl))
  return api
}
