import { createMemo } from "@svc/common/memo"
import { AstTooLarge } from "../../registry/ast/document-fault.ts"

/** What a step lacks that takes long to make: it is made outside the step's transaction, and the step begun again. */
export class Needed extends Error {
  override readonly name = "Needed"
  readonly make: () => Promise<void>

  constructor(make: () => Promise<void>) {
    super("a step needs what is made outside its transaction")
    this.make = make
  }
}

// Small things, which several steps of one record ask for.
const kept = 256

/** Things that steps need, by their keys: they never change. Asking for one throws Needed, or AstTooLarge. */
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
