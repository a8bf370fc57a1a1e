export const buildStatuses = [
  "pending",
  "uploading",
  "queued",
  "building",
  "pushing",
  "deploying",
  "completed",
  "failed",
  "cancelled",
] as const
export const deploymentStatuses = ["active", "updating", "stopped", "failed"] as const
export const runStatuses = ["queued", "running", "waiting", "cancelling", "succeeded", "failed", "cancelled"] as const

type Next<Status extends string> = Readonly<Record<Status, readonly Status[]>>

const builds: Next<(typeof buildStatuses)[number]> = {
  pending: ["uploading", "failed", "cancelled"],
  uploading: ["queued", "failed", "cancelled"],
  queued: ["building", "failed", "cancelled"],
  building: ["pushing", "failed", "cancelled"],
  pushing: ["deploying", "failed", "cancelled"],
  deploying: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
}
const deployments: Next<(typeof deploymentStatuses)[number]> = {
  active: ["updating", "stopped", "failed"],
  updating: ["active", "failed", "stopped"],
  stopped: ["updating"],
  failed: ["updating", "stopped"],
}
const runs: Next<(typeof runStatuses)[number]> = {
  queued: ["running", "cancelled"],
  running: ["waiting", "succeeded", "failed", "cancelling"],
  waiting: ["running", "failed", "cancelled"],
  cancelling: ["cancelled", "failed"],
  succeeded: [],
  failed: [],
  cancelled: [],
}

/**
 * The allowed transitions. The database enforces the same (`next_statuses`); these locate the error in an imported
 * file.
 */
export const lifeCycles = {
  build: { start: "pending", next: builds },
  // The first event sets its status.
  deployment: { start: undefined, next: deployments },
  run: { start: "queued", next: runs },
} as const

type LifeCycle = { readonly start: string | undefined; readonly next: Readonly<Record<string, readonly string[]>> }

/** The statuses that can follow; undefined stands for a record without one. */
export const nextStatuses = ({ next }: LifeCycle, status: string | undefined): readonly string[] =>
  status === undefined ? Object.keys(next) : (next[status] ?? [])
