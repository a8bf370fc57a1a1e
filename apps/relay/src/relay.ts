import { ApiError } from "@svc/errors"
import { addressBucket, hasWholeBody, type HttpEnv, jsonBody } from "@svc/http"
import type { Context, MiddlewareHandler } from "hono"
import type { z } from "zod"
import { type Admission, lower } from "./admission.ts"
import { refusalOf } from "./answers.ts"
import { type HttpAuthPlugin, type Principal, requireScope } from "./auth.ts"
import { describeRoute } from "./document/describe-route.ts"
import { errors, submissionUnknown } from "./errors.ts"
import type { Call, Metering } from "./usage/metering.ts"
import { providerSpan } from "./metrics.ts"
import type { Definition, RequestClass } from "./routes/route.ts"
import { judgeSend } from "./send.ts"
import type { Reads } from "./upstream/reads.ts"
import type { Upstream } from "./upstream/upstream.ts"
import { inspectFailure, type Redact } from "./upstream/errors.ts"
import type { Verify } from "./wire.ts"

/** What the routes of the table depend on. */
export type RelayDependencies = {
  readonly config: {
    readonly maxBodyBytes: number
    readonly maxBytes: number
    readonly verify: Verify
    readonly timeoutMs: Readonly<Record<RequestClass, number>>
  }
  readonly auth: HttpAuthPlugin
  readonly admission: Admission
  readonly reads: Reads
  /** Where sends go, and nowhere else. */
  readonly sender: Upstream
  readonly redact: Redact
  readonly metering: Metering
}

/** What a request's context holds on the routes to the provider. */
export type RelayEnv = HttpEnv & {
  Variables: {
    call: Call
    /** Of a request past its token and its rates. */
    admission: ReturnType<Admission["begin"]>
    principal: Principal
  }
}

const bodyDeadlineMs = 10_000

/**
 * Makes what the routes to the provider have in common. The order of the steps is part of the contract: a place among the
 * concurrent requests, for one, is taken only when the body is there, so that a slow client holds none.
 */
export const createRelay = (dependencies: RelayDependencies) => {
  const { config, auth, reads, sender, redact, metering } = dependencies
  let running = 0
  let onIdle = () => {}

  const metered =
    (definition: Definition): MiddlewareHandler<RelayEnv> =>
    async (c, next) => {
      const call = metering.begin(definition)
      c.set("call", call)
      running++
      try {
        await next()
        await metering.end(definition, call, c.error && refusalOf(c.error), c.res)
      } finally {
        if (--running === 0) onIdle()
      }
    }

  const authorize = async (c: Context<RelayEnv>, { scope }: Definition): Promise<Principal> => {
    const [authorization, origin, host] = ["authorization", "origin", "host"].map((name) => c.req.header(name))
    const principal = await auth.authorize({ authorization, origin, host })
    requireScope(principal, scope)
    return principal
  }

  const admitted =
    (definition: Definition): MiddlewareHandler<RelayEnv> =>
    async (c, next) => {
      const admission = dependencies.admission.begin(definition.class, addressBucket(c.get("clientAddress")))
      let principal: Principal
      try {
        principal = await authorize(c, definition)
      } catch (error) {
        // A token that isn't valid costs its address a request.
        await admission.count()
        throw error
      }
      if (principal.claims.sub !== undefined) c.set("account", principal.claims.sub)
      await admission.count(principal.claims, hasWholeBody(c))
      c.get("call").principal = principal
      c.set("admission", admission)
      c.set("principal", principal)
      try {
        await next()
      } finally {
        admission.leave()
      }
    }

  const body = jsonBody({
    limit: (c: Context<RelayEnv>) =>
      lower(config.maxBodyBytes, c.get("principal").claims.limits?.max_transaction_request_bytes),
    deadlineMs: bodyDeadlineMs,
    uniqueKeys: true,
    onSize: (bytes, c: Context<RelayEnv>) => (c.get("call").requestBytes = bytes),
  })

  /** Takes one of the places, in which the provider may be called. Gives how long its answer may take. */
  const enter = async (c: Context<RelayEnv>, definition: Definition): Promise<number> => {
    await c.get("admission").enter(c.get("principal").claims)
    c.header("X-Svc-Upstream-Attempted", "true")
    return config.timeoutMs[definition.class]
  }

  return {
    /** Describes a route, and what comes before its handler. */
    route: <D extends Definition>(definition: D) =>
      describeRoute(definition, [metered(definition), admitted(definition), body]),

    /** What applies to the bytes of this request: the settings, lowered by the caller's token. */
    rules: (c: Context<RelayEnv>) => ({
      maxBytes: lower(config.maxBytes, c.get("principal").claims.limits?.max_transaction_bytes),
      verify: config.verify,
    }),

    /**
     * Asks the provider, and its fallbacks.
     * @param arrange puts the members of a result where the response has them
     */
    read: async <D extends Definition>(
      c: Context<RelayEnv>,
      definition: D,
      params: readonly unknown[],
      arrange: (result: unknown) => unknown,
    ): Promise<z.output<D["response"]>> => {
      const { method, maxAnswerBytes, response } = definition
      const read = (result: unknown) => (response as D["response"]).parse(arrange(result))
      const timeoutMs = await enter(c, definition)
      const answer = await reads.ask({ method, maxAnswerBytes, read }, params, timeoutMs, metering.upstream)
      if (answer.kind !== "value") throw inspectFailure(answer, redact)
      return answer.value
    },

    /** Hands a transaction to the provider, once. Throws where it isn't proven that it was accepted. */
    send: async (c: Context<RelayEnv>, definition: Definition, params: readonly unknown[], signature: string) => {
      const { method, maxAnswerBytes } = definition
      const timeoutMs = await enter(c, definition)
      try {
        const { kind, outcome } = await providerSpan(method, async () => {
          const answer = await sender.call({ method, params, timeoutMs, maxAnswerBytes })
          const judged = judgeSend(answer, signature, redact)
          const wrong = answer.kind === "result" && judged.state !== "accepted"
          return { ...answer, kind: wrong ? ("malformed" as const) : answer.kind, outcome: judged }
        })
        metering.upstream(kind)
        if (outcome.state !== "accepted") throw outcome.error
      } catch (error) {
        if (error instanceof ApiError) throw error
        // A fault of ours after the call proves nothing about the transaction.
        throw errors.fail("internal_error", { cause: error, extra: submissionUnknown(signature).extra })
      }
    },

    /** Resolves once no request is under way, its client gone or not. */
    idle: async (): Promise<void> => {
      if (running > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    },
  }
}

export type Relay = ReturnType<typeof createRelay>
