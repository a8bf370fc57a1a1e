import type { ErrorCode } from "../errors.ts"
import type { Principal } from "./authenticate.ts"

type Verdict = "allowed" | Extract<ErrorCode, "agent-account-forbidden" | "agent-account-required">

/** Who may call a group of routes, and which limit its requests count against (see `limitOf` in guard.ts). */
export type Policy = {
  readonly publishable: boolean
  readonly agent: Verdict
  readonly human: Verdict
  readonly limit: "key" | "sessions"
}

export const policies = {
  agentAccount: { publishable: false, agent: "allowed", human: "agent-account-required", limit: "key" },
  humanKeys: { publishable: false, agent: "agent-account-forbidden", human: "allowed", limit: "key" },
  ownRecords: { publishable: false, agent: "allowed", human: "allowed", limit: "key" },
  sessions: { publishable: true, agent: "allowed", human: "allowed", limit: "sessions" },
  people: { publishable: false, agent: "agent-account-forbidden", human: "allowed", limit: "key" },
} as const satisfies Record<string, Policy>

/** What is refused to this caller here, if anything: the class of the key counts before the kind of the account. */
export const refusedBy = (policy: Policy, principal: Principal): ErrorCode | undefined => {
  if (principal.keyClass === "publishable" && !policy.publishable) return "secret-key-required"
  const verdict = policy[principal.kind]
  return verdict === "allowed" ? undefined : verdict
}
