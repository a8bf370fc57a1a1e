import type { ApiError } from "@svc/errors"
import { type ErrorCode, errors } from "../errors.ts"
import type { Principal } from "./authenticate.ts"

/** An agent's secret key, a person's secret key, or a publishable key of either. */
type Caller = "agent" | "person" | "publishable"

/** Who may call a group of routes, and the limit that requests count against (see `limitOf` in guard.ts). */
export type Policy = {
  readonly callers: readonly Caller[]
  readonly limit: "key" | "sessions"
  /** What an agent does instead, if its keys are rejected. */
  readonly agentHint?: string
}

export const policies = {
  agentAccount: { callers: ["agent"], limit: "key" },
  ownRecords: { callers: ["agent", "person"], limit: "key" },
  sessions: { callers: ["agent", "person", "publishable"], limit: "sessions" },
  people: { callers: ["person"], limit: "key" },
  peoplesKeys: {
    callers: ["person"],
    limit: "key",
    agentHint: "An agent's keys are at /api/agents/me/keys.",
  },
} as const satisfies Record<string, Policy>

const refusals = {
  publishable: "secret-key-required",
  agent: "agent-account-forbidden",
  person: "agent-account-required",
} as const satisfies Record<Caller, ErrorCode>

/** The codes for callers that the policy rejects. */
export const refusalsOf = ({ callers }: Policy) =>
  (["publishable", "agent", "person"] as const).filter((one) => !callers.includes(one)).map((one) => refusals[one])

/** The error that rejects this caller, if any. The class of the key is checked before the kind of account. */
export const refusedBy = (
  { callers, agentHint: hint }: Policy,
  { keyClass, kind }: Principal,
): ApiError | undefined => {
  const caller = keyClass === "publishable" ? keyClass : kind === "agent" ? kind : "person"
  if (callers.includes(caller)) return undefined
  return errors.fail(refusals[caller], { hint: caller === "agent" ? hint : undefined })
}
