import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { PGlite, types } from "@electric-sql/pglite"
import { SetupError } from "@svc/config"
import { closeDataFolder } from "../../data-folder.ts"
import { type Database, loadEmbeddedDriver, type Queries } from "../database.ts"
import { explain } from "../errors.ts"
import { lockFolder } from "./folder-lock.ts"
import { createWriteWatch } from "../write-watch.ts"

/** An empty database of this PGlite version with all tables. Unpacking it is much faster than creating one. */
export const templateFile = new URL("../../../migrations/empty-database.tar.zst", import.meta.url)

// The packed database has no secret: with a known one, anybody could make keys that look genuine.
const makeKeySecret = `insert into key_secrets (id, secret)
  values (1, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))`

const asText = (value: string): string => value

const block = 512

/** Extracts a ustar archive into a folder, readable only by its owner. PGlite's own loader is ten times slower. */
const unpack = (archive: Buffer, folder: string): void => {
  const field = (at: number, size: number): string => archive.toString("latin1", at, at + size).replace(/\0.*/s, "")
  for (let at = 0; at < archive.length && archive[at] !== 0;) {
    const path = join(folder, field(at, 100))
    const size = Number.parseInt(field(at + 124, 12), 8)
    const isFolder = field(at + 156, 1) === "5"
    at += block
    if (isFolder) mkdirSync(path, { recursive: true, mode: 0o700 })
    else writeFileSync(path, archive.subarray(at, at + size), { mode: 0o600 })
    at += Math.ceil(size / block) * block
  }
}

const openFolder = async (folder: string): Promise<PGlite> => {
  const path = join(folder, "database")
  // Written last. Without it the database is incomplete, after an interrupted start, and is created again.
  const complete = join(folder, "database.complete")
  const isNew = !existsSync(complete)
  if (isNew) {
    rmSync(path, { recursive: true, force: true })
    unpack(zstdDecompressSync(readFileSync(templateFile)), path)
  }
  const client = await PGlite.create(path, { parsers: { [types.TIMESTAMPTZ]: asText } })
  await client.exec("set timezone = 'UTC'")
  if (isNew) {
    await client.exec(makeKeySecret)
    writeFileSync(complete, "", { mode: 0o600 })
  }
  return client
}

const explained = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw explain(error)
  })

/**
 * Opens the database inside this process, in `folder`/database, and creates it if it is missing. The folder is closed
 * to other users and, while this process lives, to other processes. Throws FolderInUse, OpenDataFolder and SetupError.
 */
export const openEmbeddedDatabase = async ({
  folder,
  now,
}: {
  readonly folder: string
  readonly now: () => number
}): Promise<Database> => {
  closeDataFolder(folder)
  const lock = await lockFolder(folder)
  let client: PGlite
  try {
    client = await openFolder(folder)
  } catch (error) {
    lock.release()
    // Node's errors of files name the fault. Of damaged files and of a full disk PGlite says only that it failed.
    if (error instanceof Error && "syscall" in error) throw error
    const next =
      "Free space if its disk is full. Otherwise restore a backup into a new folder, and set SVC_DATA_DIR to it."
    throw new SetupError(`the embedded database in ${folder} can't be opened`, "SVC_DATA_DIR", next, error)
  }
  const { drizzle } = loadEmbeddedDriver()
  const orm = drizzle(client)
  const { watch, watchWrite, stores } = createWriteWatch(now)
  const queries: Queries = {
    query: async <Row>(text: string, params: readonly unknown[]) =>
      (await watch(explained(client.query<Row>(text, [...params])))).rows,
    run: (work) => watch(explained(work(orm))),
    // They run one after the other anyway.
    transaction: (work) => watchWrite(explained(orm.transaction(work))),
  }
  return {
    // A response from inside the process always comes, so there is no time limit.
    within: () => queries,
    connections: () => 1,
    // Callers also poll, so a failure here is harmless.
    listen: (channel, onNotice) => void client.listen(channel, onNotice).catch(() => {}),
    stores,
    close: async () => {
      await client.close()
      lock.release()
    },
  }
}
