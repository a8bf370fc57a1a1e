// Sends changes of the registry to followers as they are committed.
import { coalesce } from "../db/coalesce.ts"
import type { Database } from "../db/database.ts"
import type { Audience } from "./audience.ts"
import { concerns, newestChange, presentChange, readNewer, type StoredChange } from "./changes.ts"

const rowsAtOnce = 500

export type ToldChange = ReturnType<typeof presentChange>

type Follower = { readonly reader: Audience; readonly tell: (event: Uint8Array, change: StoredChange) => void }

export type ChangeFeed = {
  /**
   * Reads new changes once for all followers. Call it with every notification.
   * @param revision the registry's, if known: nothing is read if it was handled before
   */
  readonly poll: (revision?: number) => Promise<void>
  /** The id up to which followers have been told. */
  readonly position: () => number
  /** Reports every change after `position` that concerns the reader. The returned function ends that. */
  readonly follow: (follower: Follower) => () => void
}

const text = new TextEncoder()

export const changeEvent = (change: ToldChange): Uint8Array =>
  text.encode(`id: ${change.id}\nevent: ${change.kind}\ndata: ${JSON.stringify(change)}\n\n`)

/** Throws DatabaseUnavailable. */
export const createChangeFeed = async (database: Database): Promise<ChangeFeed> => {
  const followers = new Set<Follower>()
  let position = await newestChange(database)
  let looked = position

  const read = coalesce(async () => {
    for (let full = true; full;) {
      const rows = await readNewer(database, position, rowsAtOnce)
      full = rows.length === rowsAtOnce
      for (const row of rows) {
        position = row.id
        let event: Uint8Array | undefined
        for (const { reader, tell } of followers) {
          if (concerns(row, reader)) tell((event ??= changeEvent(presentChange(row))), row)
        }
      }
    }
  })

  return {
    position: () => position,
    follow: (follower) => {
      followers.add(follower)
      return () => void followers.delete(follower)
    },
    poll: async (revision) => {
      if (revision !== undefined && revision <= looked) return
      await read()
      looked = Math.max(looked, revision ?? 0, position)
    },
  }
}
