/** @param start undefined: the first event sets the status, to any */
const lifeCycle = <Status extends string>(
  start: NoInfer<Status> | undefined,
  next: Readonly<Record<Status, readonly NoInfer<Status>[]>>,
) => {
  const statuses = Object.keys(next) as [Status, ...Status[]]
  return { start, next, statuses, ended: statuses.filter((status) => next[status].length === 0) }
}

/** The statuses and allowed transitions of records. The checks of the tables of events are made from them. */
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
