import { parentPort } from "node:worker_threads"
import { AstTooLarge } from "../registry/ast/document-fault.ts"
import type { Reply, Request } from "./compiler.ts"
import { tasks } from "./tasks.ts"

const reply = (message: Reply): void => parentPort?.postMessage(message)

parentPort?.on("message", ({ task, input }: Request) => {
  try {
    reply({ output: (tasks[task] as (given: unknown) => unknown)(input) })
  } catch (error) {
    if (error instanceof AstTooLarge) reply({ tooLarge: { segments: error.segments, reason: error.reason } })
    else reply({ stack: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
