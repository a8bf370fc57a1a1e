import { AstTooLarge } from "../../registry/ast/document-fault.ts"
import { StackConflict } from "../../registry/publication.ts"
import type { JobHandler } from "../queue/worker.ts"

/** Why a build or an operation can't go on. The owner sees the message. */
export class WorkFailure extends Error {
  override readonly name = "WorkFailure"
}

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof StackConflict) return `${error.code}: ${error.message}`
  if (error instanceof AstTooLarge) return `invalid-ast: ${error.message}`
  return error instanceof WorkFailure ? error.message : undefined
}

/** Ends a job when a step throws an error that its owner should see. Other errors are the platform's own. */
export const failingJobs = ({ step, fail }: JobHandler): JobHandler => ({
  step: async (job, inStep) => {
    try {
      return await step(job, inStep)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === undefined) throw error
      await fail(job, inStep, reason)
      return "rest"
    }
  },
  fail,
})
