import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { type Finding, fail, pass, warn } from "./doctor.ts"

const MiB = 2 ** 20
const elsewhere = "Set SVC_DATA_DIR to a folder that can be written to."

const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)))

/** Whether a folder can be written to by this user and by no other, and has room. A missing one is looked for above. */
export const checkFolder = (check: string, path: string): readonly Finding[] => {
  const folder = nearestFolder(path)
  const stats = statSync(folder)
  const { mode, uid } = stats
  if (!stats.isDirectory()) return [fail(check, `${folder} isn't a folder`, elsewhere)]
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EROFS")
      return [fail(check, `the disk of ${folder} is read-only`, elsewhere)]
    return [fail(check, `this user can't write to ${folder}`, `Make it the service's own: chown, mode 0700.`)]
  }
  if (folder === path && (mode & 0o002) !== 0)
    return [
      fail(check, `every user can write to ${folder} (owner ${uid})`, "Use the service's own folder, with mode 0700."),
    ]
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / MiB)
  const text = `${folder} can be written to and has ${free} MiB free`
  const next = "Free some space, or move SVC_DATA_DIR to a larger disk."
  if (free < 64) return [fail(check, text, next)]
  return [free < 1024 ? warn(check, text, next) : pass(check, text)]
}
