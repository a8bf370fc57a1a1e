/** @param start undefined: the first event sets the status, to any */
const lifeCycle = <Status extends string>(
  start: NoInfer<Status> | undefined,
  next: Readonly<Record<Status, readonly NoInfer<Status>[]>>,
) => {
  const statuses = Object.keys(next) as [Status, ...Status[]]
  const ended = statuses.filter((status) => next[status].length === 0)
  const entries = Object.entries<readonly string[]>(next)
  return {
    start,
    statuses,
    ended,
    following: new Map<string | undefined, readonly string[]>([[start, statuses], ...entries]),
  }
}

/**
 * The allowed transitions. The database enforces the same (`next_statuses`).
 */
export const lifeCycles = {
  build: lifeCycle("pending", {
    pending: ["uploading", "failed", "cancelled"],
    uploading: ["queued", "failed", "cancelled"],
    queued: ["building", "failed", "cancelled"],
    building: ["pushing", "failed", "cancelled"],
    pushing: ["deploying", "failed", "cancelled"],
    deploying: ["completed", "failed", "cancelled"],
    completed: [],
    failed: [],
    cancelled: [],
  }),
  deployment: lifeCycle(undefined, {
    active: ["updating", "stopped", "failed"],
    updating: ["active", "failed", "stopped"],
    stopped: ["updating"],
    failed: ["updating", "stopped"],
  }),
  run: lifeCycle("queued", {
    queued: ["running", "cancelled"],
    running: ["waiting", "succeeded", "failed", "cancelling"],
    waiting: ["running", "failed", "cancelled"],
    cancelling: ["cancelled", "failed"],
    succeeded: [],
    failed: [],
    cancelled: [],
  }),
}
export const buildStatuses = lifeCycles.build.statuses
export const deploymentStatuses = lifeCycles.deployment.statuses
export const runStatuses = lifeCycles.run.statuses
