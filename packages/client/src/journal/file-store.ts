import { createHash, randomUUID } from "node:crypto"
import type * as nodeFiles from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { DamagedRecord, Store, StoredRecord } from "./store.ts"

type Files = Pick<
  typeof nodeFiles,
  "access" | "link" | "mkdir" | "open" | "readdir" | "readFile" | "truncate" | "unlink"
>

/** The errors of Node aren't instances of the Error of another realm, such as that of Jest's tests. */
const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code

/**
 * Keeps one file per id and version. An id's versions have no gaps, so counting finds the newest one. `remove` empties old
 * versions but keeps their names, so that no process can write them again.
 */
export const createFileStore = (given: string, files: Files): Store => {
  const folder = resolve(given)
  const hashOf = (id: string): string => createHash("sha256").update(id).digest("hex")
  const pathOf = (hash: string, version: number): string => join(folder, `${hash}.${version}.json`)

  const exists = async (path: string): Promise<boolean> => {
    try {
      await files.access(path)
      return true
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false
      throw error
    }
  }

  const newest = async (hash: string, from = 0): Promise<number> => {
    let version = from
    while (await exists(pathOf(hash, version + 1))) version++
    return version
  }

  /** Makes the names in a folder durable. Windows can't do that. */
  const syncFolder = async (path: string): Promise<void> => {
    if (process.platform === "win32") return
    const handle = await files.open(path, "r")
    await handle.sync().finally(() => handle.close())
  }

  /** Makes a folder and those above it. Node's own recursive way never ends in a file system such as /proc, which has no new folders. */
  const makeFolder = async (path: string): Promise<void> => {
    if (await exists(path)) return
    await makeFolder(dirname(path))
    await files.mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error
    })
    await syncFolder(dirname(path))
  }

  let cleaning: Promise<unknown> | undefined
  /** Removes what interrupted writes have left, once. A process whose draft is removed while it writes begins again. */
  const clean = (): Promise<unknown> => {
    const remove = async (): Promise<void> => {
      const drafts = (await files.readdir(folder)).filter((name) => /^[0-9a-f]{64}\..*\.tmp$/.test(name))
      for (const draft of drafts) await files.unlink(join(folder, draft))
    }
    return (cleaning ??= remove().catch(() => {}))
  }

  const load = async (hash: string, version: number): Promise<StoredRecord | DamagedRecord> => {
    const file = pathOf(hash, version)
    const text = await files.readFile(file, "utf8")
    // A version that is no longer the newest may be empty.
    const newer = await newest(hash, version)
    if (newer > version) return load(hash, newer)
    try {
      const record: StoredRecord = JSON.parse(text)
      if (hashOf(record.id) === hash && record.version === version) return record
    } catch {
      // Reported as damaged below.
    }
    return { version, state: "damaged", file }
  }

  return {
    placeOf: (id, version) => pathOf(hashOf(id), version),

    get: async (id) => {
      await clean()
      const hash = hashOf(id)
      const version = await newest(hash)
      if (version === 0) return undefined
      const record = await load(hash, version)
      // The process that wrote it may have died before it synced the folder.
      await syncFolder(folder)
      return record
    },

    put: async function put(id, record, expectedVersion): Promise<boolean> {
      await clean()
      const hash = hashOf(id)
      if (expectedVersion > 0 && !(await exists(pathOf(hash, expectedVersion)))) return false
      const draft = join(folder, `${hash}.${randomUUID()}.tmp`)
      const openDraft = () => files.open(draft, "wx", 0o600)
      const handle = await openDraft().catch(async (error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error
        await makeFolder(folder)
        return openDraft()
      })
      try {
        await handle.writeFile(`${JSON.stringify(record)}\n`)
        await handle.sync()
        // Fails if the name is taken.
        await files.link(draft, pathOf(hash, expectedVersion + 1))
        await syncFolder(folder)
      } catch (error) {
        if (codeOf(error) === "EEXIST") return false
        if (codeOf(error) === "ENOENT") return put(id, record, expectedVersion)
        throw error
      } finally {
        await Promise.all([handle.close(), files.unlink(draft).catch(() => {})])
      }
      return true
    },

    list: async () => {
      await clean()
      const versions = new Map<string, number>()
      const names = await files.readdir(folder).catch((error: unknown) => {
        if (codeOf(error) === "ENOENT") return []
        throw error
      })
      for (const name of names) {
        const [, hash, version] = /^([0-9a-f]{64})\.(\d{1,9})\.json$/.exec(name) ?? []
        if (hash !== undefined) versions.set(hash, Math.max(versions.get(hash) ?? 0, Number(version)))
      }
      const records: (StoredRecord | DamagedRecord)[] = []
      for (const [hash, version] of versions) {
        const unreadable = (): DamagedRecord => ({ version, state: "damaged", file: pathOf(hash, version) })
        records.push(await load(hash, version).catch(unreadable))
      }
      return records
    },

    remove: async (id, version) => {
      const hash = hashOf(id)
      const last = await newest(hash)
      for (let old = Math.min(version, last); old > 0; old--) {
        // Without a newer version no name has to be kept.
        await (version < last ? files.truncate(pathOf(hash, old)) : files.unlink(pathOf(hash, old)))
      }
    },
  }
}
