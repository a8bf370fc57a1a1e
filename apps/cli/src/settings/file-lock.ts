import { randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm, rmdir, stat, unlink, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { CliError, isMissing, systemReason } from "../errors.ts"

// Longer than a holder may take: it can wait for one answer of the API.
const oldAfterMs = 90_000
const waitMs = 60_000
const host = encodeURIComponent(hostname())

export type FileLock = {
  /** Whether nobody took this lock for one of a process that is gone, such as after the machine slept. */
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

/** Whether somebody holds the lock. Who is gone loses it: by their own file's name, so that nobody else's goes with it. */
const isTaken = async (path: string): Promise<boolean> => {
  try {
    for (const holder of await readdir(path)) {
      if (!(await isGone(path, holder))) return true
      await unlink(join(path, holder))
    }
    // Windows renames over no folder, not even an empty one.
    await rmdir(path)
  } catch (error) {
    const reason = systemReason(error)
    if (reason === "ENOTDIR") await unlink(path)
    else if (!isMissing(error) && reason !== "ENOTEMPTY") throw error
  }
  return false
}

/** Puts a folder with the holder's file in the lock's place. The system lets this succeed for one of all who try. */
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

/** Waits for its turn. Of all processes that ask for the same path one at a time has it, also after one was killed. */
export const lockFile = async (path: string): Promise<FileLock> => {
  const holder = `${process.pid}@${host}@${randomUUID()}`
  const until = Date.now() + waitMs
  while ((await isTaken(path)) || !(await take(path, holder))) {
    if (Date.now() > until) {
      throw new CliError("credentials-locked", `Another svc has been holding ${path} for a minute.`)
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
      // Another may be in it by now.
      await rmdir(path).catch(() => {})
    },
  }
}
