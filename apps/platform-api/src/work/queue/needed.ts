import { createMemo } from "@svc/common/memo"
import { AstTooLarge } from "../../registry/ast/document-fault.ts"

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
  const known = createMemo<T | AstTooLarge>({ maxEntries: kept })
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
