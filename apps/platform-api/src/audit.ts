import { addressNetwork } from "@svc/http"
import type { Orm } from "./db/database.ts"
import { auditLog } from "./db/schema/index.ts"

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
  "audit.prune",
] as const

export type AuditEntry = {
  readonly at: Date
  /** `agent:<slug>`, `user:<id>`, `operator`, or `platform` for its own daily work. */
  readonly actor: string
  readonly action: (typeof auditActions)[number]
  readonly target: string
  /** The client's address. Only its network is stored. */
  readonly address?: string
  readonly requestId?: string
}

/** Writes one row of the audit log, in the transaction of the change. */
export const audit = async (tx: Orm, { address, requestId, ...entry }: AuditEntry): Promise<void> => {
  await tx.insert(auditLog).values({
    ...entry,
    outcome: "success",
    addressPrefix: address === undefined ? null : addressNetwork(address),
    requestId: requestId ?? null,
  })
}
