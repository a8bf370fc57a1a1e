import type { ErrorCode } from "../errors.ts"
import type { Principal } from "./authenticate.ts"

type Verdict = "allowed" | Extract<ErrorCode, "agent-account-forbidden" | "agent-account-required" | "not-implemented">

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
  closed: { publishable: false, agent: "agent-account-forbidden", human: "not-implemented", limit: "key" },
} as const satisfies Record<string, Policy>

/** What is refused to this caller here, if anything: the class of the key counts before the kind of the account. */
export const refusedBy = (policy: Policy, principal: Principal): ErrorCode | undefined => {
  if (principal.keyClass === "publishable" && !policy.publishable) return "secret-key-required"
  const verdict = policy[principal.kind]
  return verdict === "allowed" ? undefined : verdict
}

/**
 * Everything agents never may do, next to all of /api/auth/keys: a hard policy, whatever the body and whether or not the
 * id exists. People's keys will get it; until then nobody has it.
 */
export const closedToAgents = [
  ["post", "/api/specs"],
  ["put", "/api/specs/{id}"],
  ["delete", "/api/specs/{id}"],
  ["post", "/api/specs/{id}/versions"],
  ["post", "/api/builds"],
  ["delete", "/api/deployments/{id}"],
  ["post", "/api/deployments/{id}/stop"],
  ["post", "/api/deployments/{id}/restart"],
  ["post", "/api/deployments/{id}/rollback"],
  ["post", "/api/automation/runs"],
  ["post", "/api/automation/runs/{id}/resume"],
  ["post", "/api/automation/runs/{id}/retry"],
  ["post", "/api/automation/runs/{id}/cancel"],
] as const
