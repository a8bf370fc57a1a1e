import { buildHandler } from "./build.ts"
import type { WorkContext } from "./context.ts"
import { noticeHandler } from "./notice.ts"
import { deploymentHandler } from "./deployment.ts"
import { runHandler } from "./run.ts"
import { createServedDiff } from "./served-diff.ts"
import type { Handlers } from "../queue/worker.ts"

export const createHandlers = (context: WorkContext): Handlers => {
  const diffToDeployed = createServedDiff(context.compiler)
  return {
    build: buildHandler(context, diffToDeployed),
    deployment: deploymentHandler(context),
    run: runHandler(context, diffToDeployed),
    notice: noticeHandler(context),
  }
}
