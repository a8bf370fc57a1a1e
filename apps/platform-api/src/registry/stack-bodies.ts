import { createSharedMemo } from "@svc/common/shared-memo"
import type { Database } from "../db/database.ts"
import { and, eq } from "../db/drizzle.ts"
import { stacks } from "../db/schema/index.ts"
import type { Answer, Packer } from "./answer.ts"
import type { PublishedStack } from "./stack-head.ts"

/** What a stack has besides its head, read on demand. */
export type Body = "schema" | "ast"

const readMs = 1800
const mostBytes = 64 * 1024 * 1024
const columns = { schema: stacks.schemaGzip, ast: stacks.astGzip }

/** A stack was changed or withdrawn since its head was read. */
export class StackMoved extends Error {
  override readonly name = "StackMoved"
}

const keyOf = ({ id, revision }: PublishedStack, body: Body): string => `${body} ${id} ${revision}`

/** The bodies of stacks. The most recently used ones are in memory. */
export const createStackBodies = (database: Database, { packed }: Packer) => {
  const bodies = createSharedMemo<Answer>({ maxSize: mostBytes, sizeOf: (answer) => answer.gzip().length })
  return {
    /** A body that is in memory. */
    known: (stack: PublishedStack, body: Body): Answer | undefined => bodies.get(keyOf(stack, body)),
    /** A body from memory or the database. Throws StackMoved and DatabaseUnavailable. */
    read: (stack: PublishedStack, body: Body): Promise<Answer> =>
      bodies.make(keyOf(stack, body), async () => {
        // Only this revision: the caller may not be allowed to read another one.
        const same = and(eq(stacks.id, stack.id), eq(stacks.revision, stack.revision))
        const [row] = await database
          .within(readMs)
          .run((db) => db.select({ bytes: columns[body] }).from(stacks).where(same))
        if (row === undefined) throw new StackMoved()
        return packed(Uint8Array.from(row.bytes))
      }),
  }
}
