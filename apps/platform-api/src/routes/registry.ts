import { acceptsGzip, addressBucket, matchesETag, requestHeader, setHeader, validate } from "@svc/http"
import { z } from "@svc/openapi"
import type { Context } from "hono"
import { authenticate } from "../auth/authenticate.ts"
import { type AppEnv, clientOf, countRequest, credentialsOf, type RequestLimit } from "../auth/guard.ts"
import { type ErrorCode, errors } from "../errors.ts"
import type { Answer } from "../registry/answer.ts"
import type { Audience } from "../registry/registry.ts"
import type { Services } from "../services.ts"
import { type Api, endpoint } from "./endpoint.ts"
import { nextLink, pageQuery } from "./paging.ts"
import { astAnswer, detail, schemaAnswer } from "./registry-schemas.ts"

const listQuery = pageQuery.extend({
  include: z.enum(["schema"], "can only be schema").optional().openapi({ description: "Adds each stack's schema" }),
  q: z.string().max(200).default("").openapi({ description: "Text in the name or the description" }),
})

const codes = ["stack-not-found", "rate-limit-exceeded", "service-unavailable"] as const

type Found = { readonly answer: Answer; readonly headers?: Readonly<Record<string, string>> }

/** Who asks, and against what the request counts. */
type Caller = {
  readonly audience: Audience
  readonly limit: RequestLimit
  /** Whether any credentials came: then the answer is not for caches that others share. */
  readonly credentials: boolean
  /** Why the key that was sent counts as none. */
  readonly ignored?: ErrorCode
}

export const registryRoutes = (api: Api, services: Services): void => {
  const { registry, settings } = services

  const anyone = (c: Context<AppEnv>): Caller => ({
    audience: "public",
    limit: {
      group: "registry",
      // Without a limit nobody's address is worked out.
      bucket: settings.SVC_REGISTRY_REQUESTS_PER_MINUTE === 0 ? "" : `ip:${addressBucket(clientOf(services, c))}`,
      perMinute: settings.SVC_REGISTRY_REQUESTS_PER_MINUTE,
    },
    credentials: false,
  })

  const ignoredKey = (c: Context<AppEnv>, ignored: ErrorCode) => ({ ...anyone(c), credentials: true, ignored })

  /** The holder of the key that was sent. A key that fails counts as none; one that can't be checked fails the request. */
  const holder = async (c: Context<AppEnv>): Promise<Caller> => {
    const principal = await authenticate(services.findKey, credentialsOf(c), services.wallClock())
    if ("refused" in principal) return ignoredKey(c, principal.refused)
    if (!(await services.useTracker.note(principal))) return ignoredKey(c, "invalid-api-key")
    const perMinute = settings.SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE
    const limit = { group: "registry", bucket: `key:${principal.keyId}`, perMinute }
    return { audience: "keyed", limit, credentials: true }
  }

  /** Sets what every answer tells this caller, refusals too. */
  const tell = (c: Context<AppEnv>, { ignored }: Caller): void => {
    setHeader(c, "Vary", "Authorization, Origin, Accept-Encoding")
    if (ignored !== undefined) setHeader(c, "X-Auth-Ignored", ignored)
  }

  const count = (c: Context<AppEnv>, { limit }: Caller): void => countRequest(services, c, limit)

  /** The list's query. What can't be one counts like any other request. */
  const validateQuery = (c: Context<AppEnv>, caller: Caller) => {
    try {
      return validate(listQuery, c.req.query())
    } catch (error) {
      count(c, caller)
      throw error
    }
  }

  const send = (c: Context<AppEnv>, caller: Caller, found: Found | undefined, counted = false): Response => {
    const known = requestHeader(c, "if-none-match")
    const unchanged = found !== undefined && matchesETag(known, Object.values(found.answer.etags))
    if (!unchanged && !counted) count(c, caller)
    if (found === undefined) throw errors.fail("stack-not-found")
    const encoding = acceptsGzip(requestHeader(c, "accept-encoding")) ? "gzip" : "identity"
    const headers: Record<string, string> = {
      etag: found.answer.etags[encoding],
      "cache-control": caller.credentials ? "private, no-cache" : "public, max-age=60, stale-while-revalidate=600",
      ...found.headers,
    }
    if (unchanged) return c.body(null, 304, headers)
    headers["content-type"] = "application/json"
    if (encoding === "gzip") headers["content-encoding"] = "gzip"
    return new Response(found.answer[encoding](), { headers })
  }

  const common = { method: "get", tag: "registry", access: "optional key" } as const
  const notModified = { 304: ["Nothing changed since the ETag in If-None-Match"] } as const

  endpoint(
    api,
    services,
    {
      ...common,
      path: "/api/registry",
      id: "listStacks",
      summary: "The published stacks, by name",
      query: listQuery,
      success: [200, "Stacks", z.array(detail)],
      others: notModified,
      codes: ["invalid-request", "rate-limit-exceeded", "service-unavailable"],
    },
    async (c) => {
      const caller = requestHeader(c, "authorization") === undefined ? anyone(c) : await holder(c)
      tell(c, caller)
      const { include, ...query } = validateQuery(c, caller)
      const list = { ...query, audience: caller.audience, withSchema: include !== undefined }
      // A list that is not there yet counts even when it turns out to be known: it is made before that shows.
      const made = registry.hasList(list)
      if (!made) count(c, caller)
      const { answer, more } = await registry.list(list)
      return send(c, caller, more ? { answer, headers: { link: nextLink(c, query) } } : { answer }, !made)
    },
  )

  const one = (
    path: string,
    id: string,
    summary: string,
    answer: z.ZodType,
    pick: "detail" | "schema" | "ast",
    parameter: "name" | "stack",
  ) =>
    endpoint(
      api,
      services,
      { ...common, path, id, summary, success: [200, summary, answer], others: notModified, codes },
      (c) => {
        const sendTo = (caller: Caller): Response => {
          tell(c, caller)
          const stack = registry.find(caller.audience, c.req.param(parameter) ?? "")
          return send(c, caller, stack && { answer: stack.answers[pick] })
        }
        // Nothing is waited for where nobody has to be found: most readers send no key.
        return requestHeader(c, "authorization") === undefined ? sendTo(anyone(c)) : holder(c).then(sendTo)
      },
    )
  one("/api/registry/{name}", "getStack", "One stack", detail, "detail", "name")
  one(
    "/api/registry/{name}/schema",
    "getStackSchema",
    "What a stack's entities look like",
    schemaAnswer,
    "schema",
    "name",
  )
  one("/api/registry/stacks/{stack}/ast", "getStackAst", "A stack's AST as published", astAnswer, "ast", "stack")
}
