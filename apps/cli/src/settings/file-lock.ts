import { randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm, rmdir, stat, unlink, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { CliError, isMissing, systemReason } from "../errors.ts"

// Longer than a holder needs: it may wait for one response of the API.
const oldAfterMs = 90_000
const waitMs = 60_000
const host = encodeURIComponent(hostname())

export type FileLock = {
  /** False if another process took the lock, believing that this one is gone, as after the machine slept. */
  readonly isHeld: () => Promise<boolean>
  readonly release: () => Promise<void>
}

const isGone = async (path: string, holder: string): Promise<boolean> => {
  const [pid, where] = holder.split("@")
  if (where === host) {
    try {
      process.kill(Number(pid), 0)
    } catch (error) {
      if (systemReason(error) === "ESRCH") return true
    }
  }
  const { mtimeMs } = await stat(join(path, holder))
  return Date.now() - mtimeMs > oldAfterMs
}

/** Whether a process holds the lock. It removes the file of a holder that is gone, by name, so that no other's is removed. */
const isTaken = async (path: string): Promise<boolean> => {
  try {
    for (const holder of await readdir(path)) {
      if (!(await isGone(path, holder))) return true
      await unlink(join(path, holder))
    }
    // Windows can't rename over a folder, not even over an empty one.
    await rmdir(path)
  } catch (error) {
    const reason = systemReason(error)
    if (reason === "ENOTDIR") await unlink(path)
    else if (!isMissing(error) && reason !== "ENOTEMPTY") throw error
  }
  return false
}

/** Renames a folder with the holder's file to the lock's path. The system lets only one process succeed. */
const take = async (path: string, holder: string): Promise<boolean> => {
  const own = `${path}.${holder}`
  await mkdir(own, { mode: 0o700 })
  try {
    await writeFile(join(own, holder), "")
    await rename(own, path)
    return true
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    if (["ENOTEMPTY", "EEXIST", "EPERM", "ENOTDIR"].includes(systemReason(error))) return false
    throw error
  }
}

/** Waits for the lock of a path. Only one process holds it at a time, also after a holder was killed. */
export const lockFile = async (path: string): Promise<FileLock> => {
  const holder = `${process.pid}@${host}@${randomUUID()}`
  const until = Date.now() + waitMs
  while ((await isTaken(path)) || !(await take(path, holder))) {
    if (Date.now() > until) {
      throw new CliError("credentials-locked", `Another svc has held ${path} for a minute.`)
    }
    await pause(20)
  }
  const file = join(path, holder)
  return {
    isHeld: () =>
      stat(file).then(
        () => true,
        () => false,
      ),
    release: async () => {
      await rm(file, { force: true })
      // Another process may hold it by now.
      await rmdir(path).catch(() => {})
    },
  }
}
