import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { PGlite, types } from "@electric-sql/pglite"
import { createDatabase, type Database, type Pool } from "./database.ts"
import { loadEmbeddedDriver } from "./drizzle.ts"
import { lockFolder } from "./folder-lock.ts"

/** An empty database of this PGlite version: unpacking it takes a quarter of the time of making one. */
export const templateFile = new URL("../../migrations/empty-database.tar.zst", import.meta.url)

const asText = (value: string): string => value

const openFolder = async (folder: string): Promise<PGlite> => {
  const path = join(folder, "database")
  // Written once the database is whole: what a start that was killed half-way left is made anew.
  const complete = join(folder, "database.complete")
  const isNew = !existsSync(complete)
  if (isNew) rmSync(path, { recursive: true, force: true })
  const client = await PGlite.create(path, {
    parsers: { [types.TIMESTAMPTZ]: asText },
    ...(isNew ? { loadDataDir: new Blob([zstdDecompressSync(readFileSync(templateFile))]) } : {}),
  })
  await client.exec("set timezone = 'UTC'")
  if (isNew) writeFileSync(complete, "", { mode: 0o600 })
  return client
}

/**
 * Opens the database inside this process, in `folder`/database, made when it is not there; the folder is closed to other
 * users and, while this process lives, to other processes. Throws FolderInUse.
 */
export const openEmbeddedDatabase = async ({
  folder,
  now,
}: {
  readonly folder: string
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}): Promise<Database> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const lock = await lockFolder(folder)
  let client: PGlite
  try {
    client = await openFolder(folder)
  } catch (error) {
    lock.release()
    throw error
  }
  const { drizzle } = loadEmbeddedDriver()
  const pool: Pool = {
    orm: drizzle(client),
    query: async <Row>(text: string, params: readonly unknown[]) => (await client.query<Row>(text, [...params])).rows,
    // Inside one process there is no connection that could be dead.
    cut: () => {},
    close: () => client.close(),
  }
  return createDatabase({
    openPool: () => pool,
    mayHang: false,
    listen: (channel, onNotice) => void client.listen(channel, onNotice),
    close: async () => lock.release(),
    now,
  })
}
