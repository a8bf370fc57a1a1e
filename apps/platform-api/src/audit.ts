import { addressBucket } from "@svc/http"
import type { Orm } from "./db/database.ts"
import { auditLog } from "./db/schema/index.ts"

/** Everything that the audit trail records. */
export const auditActions = [
  "agent.signup",
  "agent.disable",
  "agent.enable",
  "agent.prune",
  "user.create",
  "key.mint",
  "key.rotate",
  "key.revoke",
  "key.disable",
  "key.enable",
  "limits.set",
  "stack.publish",
  "stack.unpublish",
  "stack.deprecate",
  "stack.approve",
  "spec.create",
  "spec.update",
  "spec.delete",
  "version.create",
  "build.create",
  "build.cancel",
  "deployment.deploy",
  "deployment.stop",
  "deployment.restart",
  "deployment.rollback",
  "deployment.delete",
  "run.create",
  "run.resume",
  "run.retry",
  "run.cancel",
  "records.import",
  "audit.prune",
] as const

export type AuditEntry = {
  readonly at: Date
  /** `agent:<slug>`, `user:<id>`, `operator`, or `platform` for what it does by itself. */
  readonly actor: string
  readonly action: (typeof auditActions)[number]
  readonly target: string
  /** The client's address; only its network is kept. */
  readonly address?: string
  readonly requestId?: string
}

// One person's home or one company's door, not one machine: enough to see a pattern, too little to follow somebody.
const addressPrefix = (address: string): string => {
  if (!address.includes(":")) return address.replace(/\.\d+$/, ".0/24")
  const groups = addressBucket(address).slice(0, 16).match(/.{4}/g) ?? []
  return `${groups.map((group) => group.replace(/^0{1,3}/, "")).join(":")}::/64`
}

/** Writes one row of the audit trail, in the transaction of what it tells about. */
export const audit = async (tx: Orm, { address, requestId, ...entry }: AuditEntry): Promise<void> => {
  await tx.insert(auditLog).values({
    ...entry,
    outcome: "success",
    addressPrefix: address === undefined ? null : addressPrefix(address),
    requestId: requestId ?? null,
  })
}
