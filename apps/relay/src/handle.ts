import { ApiError } from "@svc/errors"
import { addressBucket, BodyError, readJson, requestHeader } from "@svc/http"
import type { BodyFault, ClientAddress, ServedEnv } from "@svc/http"
import type { Context } from "hono"
import { type Admission, lower } from "./admission.ts"
import { type HttpAuthPlugin, type Principal, requireScope } from "./auth.ts"
import { badRequest, errors, submissionUnknown } from "./errors.ts"
import type { DenialReason, Metrics, UpstreamOutcome } from "./metrics.ts"
import type { RequestClass, Route } from "./routes.ts"
import { judgeSend } from "./send.ts"
import type { Upstream, UpstreamAnswer } from "./upstream.ts"
import { inspectFailure, type Redact } from "./upstream-errors.ts"
import type { Usage, UsageEvent } from "./usage.ts"
import type { Verify } from "./wire.ts"

/** What is known so far about one request on a route. */
export type Call = {
  /** The upstream call was handed to the HTTP client. */
  attempted: boolean
  requestBytes: number
  /** Of a send, once derived. */
  signature?: string
  /** Once the request is past authorization and its subject's bucket. */
  principal?: Principal
}

/** What a request's context holds. */
export type RelayEnv = ServedEnv & { Variables: { call?: Call } }

export type HandlerParts = {
  readonly settings: {
    readonly maxBodyBytes: number
    readonly maxBytes: number
    readonly verify: Verify
    readonly timeoutMs: Readonly<Record<RequestClass, number>>
  }
  readonly auth: HttpAuthPlugin
  readonly admission: Admission
  readonly clientAddress: ClientAddress
  readonly upstream: Upstream
  readonly redact: Redact
  readonly metrics: Metrics
  readonly usage: Usage | undefined
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  /** A UUID. */
  readonly eventId: () => string
  /** Told about what should not have happened. */
  readonly onBug: (error: unknown) => void
}

/** The result of a request: its JSON, or the error to render. */
export type Outcome = { readonly body: string } | { readonly error: ApiError }

const bodyDeadlineMs = 10_000

const bodyRefusal = (fault: BodyFault): ApiError => {
  switch (fault.kind) {
    case "unsupported-media-type":
      return errors.fail("unsupported_media_type", { message: fault.reason })
    case "too-large":
      return errors.fail("request_too_large", { message: `The request body is over ${fault.limit} bytes.` })
    case "timeout":
      return errors.fail("request_timeout", { headers: { connection: "close" } })
    case "aborted":
      return badRequest("invalid_request", "", "the body ended early")
    case "invalid-json":
      return badRequest("invalid_request", "", fault.reason)
    case "invalid":
      break
  }
  return badRequest("invalid_request", fault.path, fault.reason)
}

const denialReasons: Readonly<Record<string, DenialReason>> = {
  auth_unavailable: "auth",
  forbidden: "auth",
  "origin-mismatch": "auth",
  "origin-required": "auth",
  insufficient_scope: "scope",
  rate_limit_exceeded: "rate_limit",
  server_busy: "concurrency",
  request_too_large: "request_size",
  transaction_too_large: "request_size",
}

const denialReason = ({ code, status }: ApiError): DenialReason | undefined =>
  status === 401 ? "auth" : denialReasons[code]

const upstreamOutcomes: Readonly<Record<UpstreamAnswer["kind"], UpstreamOutcome>> = {
  result: "ok",
  "rpc-error": "rpc_error",
  "http-error": "http_error",
  malformed: "http_error",
  "transport-error": "transport_error",
  timeout: "timeout",
}

const usageResult = (route: Route, outcome: Outcome): UsageEvent["result"] => {
  if (route.class !== "send") return "error" in outcome ? "error" : "ok"
  if (!("error" in outcome)) return "accepted"
  return outcome.error.extra["submissionState"] === "unknown" ? "unknown" : "rejected"
}

const identity = ({ claims }: Principal) => ({
  ...(claims.sub !== undefined && { subject: claims.sub }),
  ...(claims.metering_key !== undefined && { metering_key: claims.metering_key }),
  ...(claims.key_class !== undefined && { key_class: claims.key_class }),
  ...(claims.deployment_id !== undefined && { deployment_id: claims.deployment_id }),
  ...(claims.plan !== undefined && { plan: claims.plan }),
})

/**
 * Makes the one way through the six routes. The order of the steps is part of the contract: a place among the concurrent
 * requests, for one, is taken only when the body is there, so that a slow client holds none.
 */
export const createHandler = (parts: HandlerParts) => {
  const { settings, auth, admission, clientAddress, upstream, redact, metrics, usage, now } = parts

  const inspect = (route: Route, answer: UpstreamAnswer): string => {
    if (answer.kind !== "result") {
      metrics.upstream(upstreamOutcomes[answer.kind])
      throw inspectFailure(answer, redact)
    }
    let value: unknown
    try {
      value = route.read(answer.result)
    } catch {
      return inspect(route, { kind: "malformed" })
    }
    metrics.upstream("ok")
    return JSON.stringify(value)
  }

  const send = (route: Route, answer: UpstreamAnswer, signature: string): string => {
    const outcome = judgeSend(answer, signature, redact)
    const wrong = answer.kind === "result" && outcome.state !== "accepted"
    metrics.upstream(upstreamOutcomes[wrong ? "malformed" : answer.kind])
    if (outcome.state !== "accepted") throw outcome.error
    return JSON.stringify(route.read(signature))
  }

  const serveRoute = async (c: Context<RelayEnv>, route: Route, call: Call): Promise<string> => {
    const address = clientAddress(c.env.incoming.socket.remoteAddress, requestHeader(c, "x-forwarded-for"))
    admission.takeAddress(route.class, addressBucket(address))
    const principal = await auth.authorize({
      authorization: requestHeader(c, "authorization"),
      origin: requestHeader(c, "origin"),
      host: requestHeader(c, "host"),
    })
    requireScope(principal, route.scope)
    admission.takeSubject(route.class, principal.claims)
    call.principal = principal
    const { limits } = principal.claims
    const json = await readJson(c, {
      limit: lower(settings.maxBodyBytes, limits?.max_transaction_request_bytes),
      deadlineMs: bodyDeadlineMs,
      uniqueKeys: true,
      onSize: (bytes) => (call.requestBytes = bytes),
    })
    const { params, signature } = await route.prepare(json, {
      maxBytes: lower(settings.maxBytes, limits?.max_transaction_bytes),
      verify: settings.verify,
    })
    if (signature !== undefined) call.signature = signature
    const leave = admission.enter(route.class, principal.claims)
    let answer: UpstreamAnswer
    try {
      call.attempted = true
      answer = await upstream.call({
        method: route.method,
        params,
        timeoutMs: settings.timeoutMs[route.class],
        maxAnswerBytes: route.maxAnswerBytes,
      })
    } finally {
      leave()
    }
    return signature === undefined ? inspect(route, answer) : send(route, answer, signature)
  }

  const refusal = (error: unknown, { attempted, signature }: Call): ApiError => {
    if (error instanceof ApiError) return error
    if (error instanceof BodyError) return bodyRefusal(error.fault)
    parts.onBug(error)
    // A fault of ours after the call proves nothing about the transaction.
    const extra = attempted && signature !== undefined ? submissionUnknown(signature).extra : {}
    return errors.fail("internal_error", { extra })
  }

  return {
    /** Serves one request up to its outcome; never rejects. */
    run: async (c: Context<RelayEnv>, route: Route, call: Call): Promise<Outcome> => {
      try {
        return { body: await serveRoute(c, route, call) }
      } catch (error) {
        return { error: refusal(error, call) }
      }
    },
    /** Counts one request, with the size of the body that answers it. */
    account: (route: Route, call: Call, outcome: Outcome, startedAt: number, responseBytes: number): void => {
      const latency = now() - startedAt
      metrics.end(route.operation, "error" in outcome ? "error" : "ok", latency, call.requestBytes)
      const denied = "error" in outcome ? denialReason(outcome.error) : undefined
      if (denied !== undefined) metrics.denied(denied)
      if (usage === undefined || call.principal === undefined) return
      usage.record({
        event_id: parts.eventId(),
        occurred_at_ms: parts.wallClock(),
        operation: route.operation,
        result: usageResult(route, outcome),
        request_bytes: call.requestBytes,
        response_bytes: responseBytes,
        latency_ms: Math.round(latency * 1000) / 1000,
        ...identity(call.principal),
      })
    },
  }
}
