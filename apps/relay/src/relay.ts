import { addressBucket, hasWholeBody, type HttpEnv, jsonBody } from "@svc/http"
import type { Context, MiddlewareHandler } from "hono"
import type { z } from "zod"
import { type Admission, claimed, lower } from "./admission.ts"
import { apiErrorOf } from "./answers.ts"
import type { Config } from "./config.ts"
import type { HttpAuthPlugin, Principal } from "./auth.ts"
import { describeRoute } from "./document.ts"
import { errors } from "./errors.ts"
import type { Call, Metering, Submission } from "./usage/metering.ts"
import { providerSpan } from "./metrics.ts"
import type { Definition } from "./routes/route.ts"
import { judgeSend, readError, type Redact, type Sent } from "./upstream/proof.ts"
import type { Reads } from "./upstream/reads.ts"
import type { Upstream } from "./upstream/upstream.ts"

/** What the routes of the table depend on. */
export type RelayDependencies = {
  readonly config: Pick<Config, "maxBodyBytes" | "maxBytes" | "verify" | "timeoutMs">
  readonly auth: HttpAuthPlugin
  readonly admission: Admission
  readonly reads: Reads
  /** The only provider that sends go to. */
  readonly sender: Upstream
  readonly redact: Redact
  readonly metering: Metering
}

/** The context of a request on the routes to the provider. */
export type RelayEnv = HttpEnv & {
  Variables: {
    call: Call
    /** Set once the token and the rates are checked. */
    admission: ReturnType<Admission["begin"]>
    principal: Principal
  }
}

export const bodyDeadlineMs = 10_000

/**
 * Makes the steps that the routes to the provider share. Their order is part of the contract. For example, a request takes its
 * place among the concurrent ones only after its body has arrived, so a slow client holds none.
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
        await metering.end(definition, call, c.error && apiErrorOf(c.error), c.res)
      } finally {
        if (--running === 0) onIdle()
      }
    }

  const authorize = async (c: Context<RelayEnv>, { scope }: Definition): Promise<Principal> => {
    const [authorization, origin, host] = ["authorization", "origin", "host"].map((name) => c.req.header(name))
    const principal = await auth.authorize({ authorization, origin, host })
    if (principal.scopes.includes(scope)) return principal
    throw errors.fail("insufficient_scope", { message: `The session token lacks the scope ${scope}.` })
  }

  const admitted =
    (definition: Definition): MiddlewareHandler<RelayEnv> =>
    async (c, next) => {
      const admission = dependencies.admission.begin(definition.class, addressBucket(c.get("clientAddress")))
      let principal: Principal
      try {
        principal = await authorize(c, definition)
      } catch (error) {
        // A request with an invalid token counts for its address.
        await admission.count()
        throw error
      }
      if (principal.claims.sub !== undefined) c.set("account", principal.claims.sub)
      c.set("isShared", principal.claims.key_class === "publishable")
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
      lower(config.maxBodyBytes, claimed("maxBodyBytes", c.get("principal").claims.limits)),
    deadlineMs: bodyDeadlineMs,
    onSize: (bytes, c: Context<RelayEnv>) => (c.get("call").requestBytes = bytes),
  })

  /** Takes a place, which allows one call to the provider. Returns how long its response may take. */
  const enter = async (c: Context<RelayEnv>, definition: Definition): Promise<number> => {
    await c.get("admission").enter(c.get("principal").claims)
    c.header("X-Svc-Upstream-Attempted", "true")
    return config.timeoutMs[definition.class]
  }

  return {
    /** Describes a route, with the middlewares before its handler. */
    route: <D extends Definition>(definition: D) =>
      describeRoute(definition, [metered(definition), admitted(definition), body]),

    /** The rules for the bytes of this request: the settings, lowered by the caller's token. */
    rules: (c: Context<RelayEnv>) => ({
      maxBytes: lower(config.maxBytes, claimed("maxBytes", c.get("principal").claims.limits)),
      verify: config.verify,
    }),

    /**
     * Asks the provider, then its fallbacks.
     * @param arrange makes the response's members from the provider's result
     */
    read: async <D extends Definition>(
      c: Context<RelayEnv>,
      definition: D,
      params: readonly unknown[],
      arrange: (result: unknown) => unknown,
    ): Promise<z.output<D["response"]>> => {
      const { method, maxResponseBytes, response } = definition
      const read = (result: unknown) => (response as D["response"]).parse(arrange(result))
      const timeoutMs = await enter(c, definition)
      const requestId = c.get("requestId")
      const outcome = await reads.ask(
        { method, maxResponseBytes, requestId, read },
        params,
        timeoutMs,
        metering.upstream,
      )
      if (outcome.kind !== "value") throw readError(outcome, redact)
      return outcome.value
    },

    /** Sends a transaction to the provider, once. Throws unless it is proven that the provider accepted it. */
    send: async (c: Context<RelayEnv>, definition: Definition, params: readonly unknown[], sent: Sent) => {
      const { method, maxResponseBytes } = definition
      const { signature } = sent
      // From here on every error carries it.
      const submission: Submission = { signature, submissionState: "not_submitted" }
      c.get("call").submission = submission
      const timeoutMs = await enter(c, definition)
      submission.submissionState = "unknown"
      const requestId = c.get("requestId")
      const { kind, outcome } = await providerSpan(method, async () => {
        const response = await sender.call({ method, params, timeoutMs, maxResponseBytes, requestId })
        const judged = judgeSend(response, sent, redact)
        const wrong = response.kind === "result" && judged.state !== "accepted"
        if (wrong) sender.report(`the result of ${method} isn't the transaction's signature`, requestId)
        return { ...response, kind: wrong ? ("malformed" as const) : response.kind, outcome: judged }
      })
      metering.upstream(kind)
      if (outcome.state === "accepted") return
      submission.submissionState = outcome.state
      throw outcome.error
    },

    /** Resolves once no request is in progress, even one whose client has left. */
    idle: async (): Promise<void> => {
      if (running > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    },
  }
}

export type Relay = ReturnType<typeof createRelay>
