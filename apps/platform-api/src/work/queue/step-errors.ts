// What steps throw to tell the worker how to go on.
import { LRUCache } from "lru-cache"
import { AstTooLarge } from "../../registry/ast/document-fault.ts"
import { StackConflict } from "../../registry/publication.ts"

/** Why a build or an operation can't go on. The owner sees the message. */
export class WorkFailure extends Error {
  override readonly name = "WorkFailure"
}

/** The reason that a job's owner should see. Other errors are the platform's own. */
export const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof StackConflict) return `${error.code}: ${error.message}`
  if (error instanceof AstTooLarge) return `invalid-ast: ${error.message}`
  return error instanceof WorkFailure ? error.message : undefined
}

/** Slow work that a step needs. It is done outside the step's transaction, and then the step starts again. */
export class Needed extends Error {
  override readonly name = "Needed"
  readonly make: () => Promise<void>

  constructor(make: () => Promise<void>) {
    super("a step needs what is made outside its transaction")
    this.make = make
  }
}

// Small results that several steps of one record need.
const kept = 256

/** Results by key, which never change. A missing one throws Needed, or AstTooLarge. */
export const createNeeds = <T extends object>() => {
  const known = new LRUCache<string, T | AstTooLarge>({ max: kept })
  return (key: string, make: () => Promise<T>): T => {
    const found = known.get(key)
    if (found instanceof AstTooLarge) throw found
    if (found !== undefined) return found
    throw new Needed(async () => {
      try {
        known.set(key, await make())
      } catch (error) {
        if (!(error instanceof AstTooLarge)) throw error
        known.set(key, error)
      }
    })
  }
}
