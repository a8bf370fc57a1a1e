import { acceptsGzip, addressBucket, matchesETag, setHeader } from "@svc/http"
import type { Context } from "hono"
import { type AppEnv, countRequest, identify, type RequestLimit } from "../../auth/guard.ts"
import type { Principal } from "../../auth/authenticate.ts"
import { type ErrorCode, errors } from "../../errors.ts"
import type { Answer, Lookup } from "../../registry/answer.ts"
import { sinceOf } from "../../registry/publication.ts"
import type { Audience } from "../../registry/audience.ts"
import type { PublishedStack } from "../../registry/published-stack.ts"
import type { Dependencies } from "../../dependencies.ts"

type Found = { readonly answer: Answer; readonly headers?: Readonly<Record<string, string>> }

/** Finds what isn't in memory. The request is counted first. */
type Later = () => Promise<Found>

/** @param missing the error if there is none */
export const foundBy = (lookup: Lookup, missing: ErrorCode, headers: Found["headers"] = {}): Found | Later => {
  if (typeof lookup !== "function") return { answer: lookup, headers }
  return async () => {
    const answer = await lookup()
    if (answer === undefined) throw errors.fail(missing)
    return { answer, headers }
  }
}

/** The caller, and the limit that the request counts against. */
export type Caller = {
  readonly audience: Audience
  readonly limit: RequestLimit
  /** Whether any credentials were sent. Then shared caches must not keep the response. */
  readonly credentials: boolean
  /** The holder of a valid key. */
  readonly principal?: Principal
  /** Why the key was ignored. */
  readonly ignored?: ErrorCode
}

/** How the registry's endpoints identify the caller, count the request and respond. */
export const createRegistryReader = (dependencies: Dependencies) => {
  const { registry, config } = dependencies

  const anyone = (c: Context<AppEnv>): Caller => ({
    audience: "public",
    limit: {
      group: "registry",
      // Without a limit the address isn't needed.
      bucket: config.perMinute.registry === 0 ? "" : addressBucket(c.get("clientAddress")),
      perMinute: config.perMinute.registry,
    },
    credentials: false,
  })

  const ignoredKey = (c: Context<AppEnv>, ignored: ErrorCode) => ({ ...anyone(c), credentials: true, ignored })

  /** The holder of the key. An invalid key is ignored. If the key can't be checked, the request fails. */
  const holder = async (c: Context<AppEnv>): Promise<Caller> => {
    const limitOf = (keyHash: string) => ({
      group: "keyed-registry",
      bucket: keyHash,
      perMinute: config.perMinute.keyedRegistry,
    })
    // A 304 doesn't count, so a request that may get one isn't rejected before its key is looked up.
    const mayBeFree = c.req.header("if-none-match") !== undefined
    const principal = await identify(dependencies, c, mayBeFree ? () => undefined : limitOf)
    if ("refused" in principal) return ignoredKey(c, principal.refused)
    if (!(await dependencies.useTracker.note(principal))) return ignoredKey(c, "invalid-api-key")
    // Many people have the key of a page, so it gives no access to private stacks.
    const audience = principal.keyClass === "secret" ? registry.audienceOf(principal.userId) : "keyed"
    return { audience, limit: limitOf(principal.keyHash), credentials: true, principal }
  }
  const callerOf = async (c: Context<AppEnv>): Promise<Caller> =>
    c.req.header("authorization") === undefined ? anyone(c) : holder(c)

  /** Sets the headers of every response to this caller, errors included. */
  const tell = (c: Context<AppEnv>, { ignored }: Caller): void => {
    setHeader(c, "Vary", "Authorization, Origin, Accept-Encoding")
    if (ignored !== undefined) setHeader(c, "X-Auth-Ignored", ignored)
  }

  const count = (c: Context<AppEnv>, { limit }: Caller) => countRequest(dependencies, c, limit)

  const respond = (c: Context<AppEnv>, caller: Caller, found: Found | undefined, unchanged: boolean) => {
    if (found === undefined) {
      const near = registry.nearest(caller.audience, c.req.param("name") ?? c.req.param("stack") ?? "")
      if (near === undefined) throw errors.fail("stack-not-found")
      throw errors.fail("stack-not-found", { hint: `Did you mean ${near}? GET /api/registry lists the stacks.` })
    }
    const encoding = acceptsGzip(c.req.header("accept-encoding")) ? "gzip" : "identity"
    const headers: Record<string, string> = {
      etag: found.answer.etags[encoding],
      "cache-control": caller.credentials ? "private, no-cache" : "public, max-age=60, stale-while-revalidate=600",
      ...found.headers,
    }
    if (unchanged) return c.body(null, 304, headers)
    headers["content-type"] ??= "application/json"
    if (encoding === "gzip") headers["content-encoding"] = "gzip"
    const body = found.answer[encoding]()
    if (body instanceof Promise) return body.then((bytes) => new Response(bytes, { headers }))
    return new Response(body, { headers })
  }

  const send = (c: Context<AppEnv>, caller: Caller, found: Found | undefined, counted = false) => {
    const known = c.req.header("if-none-match")
    const unchanged = found !== undefined && matchesETag(known, Object.values(found.answer.etags))
    const counting = unchanged || counted ? undefined : count(c, caller)
    if (counting === undefined) return respond(c, caller, found, unchanged)
    return counting.then(() => respond(c, caller, found, unchanged))
  }

  const sendLater = async (c: Context<AppEnv>, caller: Caller, stack: PublishedStack, find: Later) => {
    await count(c, caller)
    return send(c, caller, withDeprecation(stack, await find()), true)
  }

  /**
   * Responds with what `find` returns for the stack. Without a stack the error is `stack-not-found`. A request for what
   * isn't in memory counts even if the client already has it, because that is known only later.
   * @param read parses the query, before the stack is looked up
   */
  const answer =
    <Query>(
      parameter: "name" | "stack",
      read: (c: Context<AppEnv>) => Query,
      find: (stack: PublishedStack, query: Query, caller: Caller) => Found | Later,
    ) =>
    (c: Context<AppEnv>): Response | Promise<Response> => {
      const sendTo = (caller: Caller): Response | Promise<Response> => {
        tell(c, caller)
        // Invalid requests count too.
        const refuse = async (error: unknown): Promise<never> => {
          await count(c, caller)
          throw error
        }
        let query: Query
        try {
          query = read(c)
        } catch (error) {
          return refuse(error)
        }
        const stack = registry.find(caller.audience, c.req.param(parameter) ?? "")
        if (stack === undefined) return send(c, caller, undefined)
        const found = find(stack, query, caller)
        if (typeof found !== "function") return send(c, caller, withDeprecation(stack, found))
        return sendLater(c, caller, stack, found)
      }
      // Most readers send no key, and then nothing is asynchronous.
      return c.req.header("authorization") === undefined ? sendTo(anyone(c)) : holder(c).then(sendTo)
    }

  return { callerOf, tell, count, send, answer }
}

export type RegistryReader = ReturnType<typeof createRegistryReader>

/** RFC 9745: since when the stack is deprecated. */
const withDeprecation = ({ deprecated }: PublishedStack, found: Found): Found => {
  if (deprecated === null) return found
  const since = Math.floor(Date.parse(sinceOf(deprecated)) / 1000)
  return { ...found, headers: { ...found.headers, deprecation: `@${since}` } }
}
