import { ApiError, BodyError } from "@svc/errors"
import {
  addressBucket,
  clientAddress,
  hasWholeBody,
  readJson,
  requestHeader,
  type HttpEnv,
  setAccount,
} from "@svc/http"
import type { Context } from "hono"
import { type Admission, lower, type RequestAdmission } from "./admission.ts"
import { type HttpAuthPlugin, type Principal, requireScope } from "./auth.ts"
import { bodyError } from "./answers.ts"
import { errors, submissionUnknown } from "./errors.ts"
import type { Call, Metering, Outcome } from "./usage/metering.ts"
import { providerSpan } from "./metrics.ts"
import type { ReadRoute, RequestClass, Route, SendRoute } from "./routes/route.ts"
import { judgeSend } from "./send.ts"
import type { Reads } from "./upstream/reads.ts"
import type { Upstream } from "./upstream/upstream.ts"
import { inspectFailure, type Redact } from "./upstream/errors.ts"
import type { Verify } from "./wire.ts"

/** What a request's context holds. */
export type RelayEnv = HttpEnv & { Variables: { call?: Call } }

export type HandlerDependencies = {
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
  /** Told about what should not have happened. */
  readonly onBug: (error: unknown) => void
}

/** A request past its token and its rates. */
type Admitted = { readonly call: Call; readonly admission: RequestAdmission; readonly principal: Principal }

const bodyDeadlineMs = 10_000

/**
 * Makes the one way through the routes: `serve` takes a request up to its outcome and never rejects. The order of the
 * steps is part of the contract: a place among the concurrent requests, for one, is taken only when the body is there, so
 * that a slow client holds none.
 */
export const createHandler = (dependencies: HandlerDependencies) => {
  const { config, auth, reads, sender, redact, metering } = dependencies

  const authorize = async (c: Context<RelayEnv>, route: Route): Promise<Principal> => {
    const principal = await auth.authorize({
      authorization: requestHeader(c, "authorization"),
      origin: requestHeader(c, "origin"),
      host: requestHeader(c, "host"),
    })
    requireScope(principal, route.scope)
    return principal
  }

  const admit = async (c: Context<RelayEnv>, route: Route, admission: RequestAdmission): Promise<Principal> => {
    let principal: Principal
    try {
      principal = await authorize(c, route)
    } catch (error) {
      // A token that isn't valid costs its address a request.
      await admission.count()
      throw error
    }
    await admission.count(principal.claims, hasWholeBody(c))
    return principal
  }

  /** Calls the provider in one of the places. */
  const inPlace = async <T>(
    route: Route,
    { call, admission, principal }: Admitted,
    ask: (timeoutMs: number) => Promise<T>,
  ): Promise<T> => {
    await admission.enter(principal.claims)
    call.attempted = true
    return ask(config.timeoutMs[route.class])
  }

  const read = async (route: ReadRoute, admitted: Admitted, params: readonly unknown[]): Promise<unknown> => {
    const answer = await inPlace(route, admitted, (timeoutMs) => reads.ask(route, params, timeoutMs, metering.upstream))
    if (answer.kind !== "value") throw inspectFailure(answer, redact)
    return answer.value
  }

  const send = async (route: SendRoute, admitted: Admitted, params: readonly unknown[], signature: string) => {
    admitted.call.signature = signature
    const { method, maxAnswerBytes } = route
    const { kind, outcome } = await inPlace(route, admitted, (timeoutMs) =>
      providerSpan(method, async () => {
        const answer = await sender.call({ method, params, timeoutMs, maxAnswerBytes })
        const judged = judgeSend(answer, signature, redact)
        const wrong = answer.kind === "result" && judged.state !== "accepted"
        return { ...answer, kind: wrong ? ("malformed" as const) : answer.kind, outcome: judged }
      }),
    )
    metering.upstream(kind)
    if (outcome.state !== "accepted") throw outcome.error
    return { signature }
  }

  const answer = async (c: Context<RelayEnv>, route: Route, admitted: Admitted): Promise<unknown> => {
    const { limits } = admitted.principal.claims
    const json = await readJson(c, {
      limit: lower(config.maxBodyBytes, limits?.max_transaction_request_bytes),
      deadlineMs: bodyDeadlineMs,
      uniqueKeys: true,
      onSize: (bytes) => (admitted.call.requestBytes = bytes),
    })
    const rules = { maxBytes: lower(config.maxBytes, limits?.max_transaction_bytes), verify: config.verify }
    if (route.class !== "send") return read(route, admitted, route.prepare(json, rules))
    const { params, signature } = await route.prepare(json, rules)
    return send(route, admitted, params, signature)
  }

  const serve = async (c: Context<RelayEnv>, route: Route, call: Call): Promise<unknown> => {
    const admission = dependencies.admission.begin(route.class, addressBucket(clientAddress(c)))
    const principal = await admit(c, route, admission)
    call.principal = principal
    if (principal.claims.sub !== undefined) setAccount(c, principal.claims.sub)
    try {
      return await answer(c, route, { call, admission, principal })
    } finally {
      admission.leave()
    }
  }

  const refusal = (error: unknown, { attempted, signature }: Call): ApiError => {
    if (error instanceof ApiError) return error
    if (error instanceof BodyError) return bodyError(error.fault)
    dependencies.onBug(error)
    // A fault of ours after the call proves nothing about the transaction.
    const extra = attempted && signature !== undefined ? submissionUnknown(signature).extra : {}
    return errors.fail("internal_error", { extra })
  }

  return async (c: Context<RelayEnv>, route: Route, call: Call): Promise<Outcome> => {
    try {
      return { body: JSON.stringify(await serve(c, route, call)) }
    } catch (error) {
      return { error: refusal(error, call) }
    }
  }
}
