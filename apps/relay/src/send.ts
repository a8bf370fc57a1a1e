import type { ApiError } from "@svc/errors"
import { submissionUnknown } from "./errors.ts"
import { detailsOf, type Redact, upstreamError } from "./upstream/errors.ts"
import { proofOf } from "./upstream/proof.ts"
import type { UpstreamResponse } from "./upstream/upstream.ts"

/** The outcome of a send. `unknown` whenever nothing proves one of the others. */
export type SendOutcome =
  | { readonly state: "accepted" }
  | { readonly state: "not_submitted"; readonly error: ApiError }
  | { readonly state: "unknown"; readonly error: ApiError }

/** Decides what a provider's response to sendTransaction proves about the transaction with this signature. */
export const judgeSend = (response: UpstreamResponse, signature: string, redact: Redact): SendOutcome => {
  if (response.kind === "result") {
    return response.result === signature ? { state: "accepted" } : { state: "unknown", error: submissionUnknown() }
  }
  if (proofOf(response).notSubmitted) return { state: "not_submitted", error: upstreamError(response, redact) }
  const details = detailsOf(response, redact)
  return { state: "unknown", error: submissionUnknown({ timedOut: response.kind === "timeout", details }) }
}
