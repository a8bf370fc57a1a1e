import { acceptsGzip, addressBucket, matchesETag } from "@svc/http"
import type { z } from "@svc/openapi"
import type { Context, MiddlewareHandler } from "hono"
import {
  type AppEnv,
  type Caller,
  type CountedKey,
  countRequest,
  identify,
  limitOn,
  ofClient,
} from "../../auth/guard.ts"
import { type ErrorCode, errors } from "../../errors.ts"
import type { Answer, Lookup } from "../../registry/answer.ts"
import { sinceOf } from "../../registry/publication.ts"
import type { PublishedStack } from "../../registry/registry.ts"
import { access, failures, preparedNotModified } from "../api.ts"
import { documented, type HeaderDocs, rateLimited, revalidated } from "../create-route.ts"

type Headers = Readonly<Record<string, string>>

type Found = { readonly answer: Answer; readonly headers?: Headers }

/** What a route responds with, and the error if there is none: `version-not-found` unless given. */
type Wanted = { readonly lookup: Lookup; readonly missing?: ErrorCode; readonly headers?: Headers }

/** What the registry's routes that anyone may read have in common. */
export const registryRead = { tags: ["registry"], ...access("optional key") }

/** The responses of such a route. */
export const readingAs = <R extends object>(success: R, ...codes: readonly ErrorCode[]) => ({
  200: success,
  ...preparedNotModified,
  ...failures(...codes, "rate-limit-exceeded", "service-unavailable"),
})

const anyone = (c: Context<AppEnv>): Caller => {
  const { registry } = c.get("dependencies").config.perMinute
  const limit = limitOn("registry", addressBucket(c.get("clientAddress")), registry)
  return { audience: "public", limit, credentials: false }
}

const ignoredKey = (c: Context<AppEnv>, ignored: ErrorCode) => ({ ...anyone(c), credentials: true, ignored })

/** The holder of the key. An invalid key is ignored. If the key can't be checked, the request fails. */
const holder = async (c: Context<AppEnv>): Promise<Caller> => {
  const { config, registry, useTracker } = c.get("dependencies")
  const limitOf = ({ keyHash, keyClass }: CountedKey) =>
    limitOn(
      "keyed-registry",
      keyClass === "publishable" ? ofClient(c, keyHash) : keyHash,
      config.perMinute.keyedRegistry,
    )
  // A 304 doesn't count, so a request that may get one isn't rejected before its key is looked up.
  const mayBeFree = c.req.header("if-none-match") !== undefined
  const principal = await identify(c, mayBeFree ? () => undefined : limitOf)
  if ("refused" in principal) return ignoredKey(c, principal.refused)
  if (!(await useTracker.note(principal))) return ignoredKey(c, "invalid-api-key")
  // Many people have the key of a page, so it gives no access to private stacks.
  const audience = principal.keyClass === "secret" ? registry.audienceOf(principal.userId) : "keyed"
  return { audience, limit: limitOf(principal), credentials: true, principal }
}

const readHeaders: HeaderDocs = {
  ...revalidated,
  sets: { ...rateLimited, "X-Auth-Ignored": () => true, ...revalidated.sets },
}

/**
 * Identifies the caller and sets the headers of every response to it, errors included.
 * @param query the schema of the query: invalid requests count, too
 */
export const asked = (query?: z.ZodType): MiddlewareHandler<AppEnv> =>
  documented(readHeaders, async (c, next) => {
    const caller = c.req.header("authorization") === undefined ? anyone(c) : await holder(c)
    c.set("caller", caller)
    c.header("Vary", "Authorization, Origin, Accept-Encoding")
    if (caller.ignored !== undefined) c.header("X-Auth-Ignored", caller.ignored)
    const isInvalid = c.req.url.includes("?") && query?.safeParse(c.req.query()).success === false
    if (isInvalid) await count(c)
    await next()
  })

export const count = (c: Context<AppEnv>) => countRequest(c, c.get("caller").limit)

/** Sends a 200, or the 304 to whoever has it, which doesn't count. */
export const send = async (c: Context<AppEnv>, found: Found, isCounted = false) => {
  const isKnown = matchesETag(c.req.header("if-none-match"), [found.answer.etags.identity])
  if (!isKnown && !isCounted) await count(c)
  const encoding = acceptsGzip(c.req.header("accept-encoding")) ? "gzip" : "identity"
  const isPrivate = c.get("caller").credentials
  const headers = {
    etag: found.answer.etags[encoding],
    "cache-control": isPrivate ? "private, no-cache" : "public, max-age=60, stale-while-revalidate=600",
    ...found.headers,
  }
  if (isKnown) return c.body(null, 304, headers)
  const packed = encoding === "gzip" && { "content-encoding": encoding }
  return c.body(await found.answer[encoding](), 200, { "content-type": "application/json", ...headers, ...packed })
}

const notFound = async (c: Context<AppEnv>, name: string): Promise<never> => {
  await count(c)
  const near = c.get("dependencies").registry.nearest(c.get("caller").audience, name)
  if (near === undefined) throw errors.fail("stack-not-found")
  throw errors.fail("stack-not-found", { hint: `Did you mean ${near}? GET /api/registry lists the stacks.` })
}

/**
 * Responds with what `find` returns for the stack of this name. Without a stack the error is `stack-not-found`. A request
 * for what isn't in memory counts even if the client already has it, because that is known only later.
 */
export const answer = async (c: Context<AppEnv>, name: string, find: (stack: PublishedStack) => Wanted) => {
  const stack = c.get("dependencies").registry.find(c.get("caller").audience, name)
  if (stack === undefined) return notFound(c, name)
  const { lookup, missing = "version-not-found", headers } = find(stack)
  const isLater = typeof lookup === "function"
  if (isLater) await count(c)
  const found = isLater ? await lookup() : lookup
  if (found === undefined) throw errors.fail(missing)
  return send(c, { answer: found, headers: { ...headers, ...deprecationOf(stack) } }, isLater)
}

/** For routes that respond by `answer`. */
export const ofStack: HeaderDocs = { sets: { Deprecation: (status) => status < 400 } }

/** RFC 9745: since when the stack is deprecated. */
const deprecationOf = ({ deprecated }: PublishedStack): Headers =>
  deprecated === null ? {} : { deprecation: `@${Math.floor(Date.parse(sinceOf(deprecated)) / 1000)}` }
