import type { Handlers } from "../queue/worker.ts"
import { buildHandler } from "./build.ts"
import { createContext, type Given } from "./context.ts"
import { deploymentHandler, noticeHandler } from "./deployment.ts"
import { runHandler } from "./run.ts"

export const createHandlers = (given: Given): Handlers => {
  const context = createContext(given)
  return {
    build: buildHandler(context),
    deployment: deploymentHandler(context),
    run: runHandler(context),
    notice: noticeHandler(context),
  }
}
