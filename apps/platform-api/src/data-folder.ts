// Loaded before the program, so it imports only Node's own modules.
import { chmodSync, mkdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"

/** Other users of the machine can write to the data folder. */
export class OpenDataFolder extends Error {
  override readonly name = "OpenDataFolder"
}

const writableByAll = 0o002
const sticky = 0o1000

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Creates a folder and those above it. Node's own recursive way never ends in a file system such as /proc, which has no new
 * folders. Throws an error with the code ENOTDIR.
 */
export const createFolder = (folder: string): void => {
  if (isFolder(folder)) return
  createFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (isFolder(folder)) return
    const { message } = error as Error
    throw Object.assign(new Error(`${folder} can't be created: ${message}`), { code: "ENOTDIR" })
  }
}

/**
 * Creates the data folder, or closes it to other users: anyone who can write there can plant a signing key or code.
 * Throws OpenDataFolder if every user can write to a folder that belongs to somebody else or is shared, like /tmp.
 */
export const closeDataFolder = (folder: string): void => {
  createFolder(folder)
  const { mode } = statSync(folder)
  const isShared = (mode & sticky) !== 0 && (mode & writableByAll) !== 0
  try {
    if (!isShared) chmodSync(folder, 0o700)
  } catch {
    // A volume may belong to another user and be open only to the service's group.
  }
  if ((statSync(folder).mode & writableByAll) === 0) return
  throw new OpenDataFolder(
    `SVC_DATA_DIR: every user of this machine can write to ${folder}: name a folder in it, such as ${join(folder, "data")}, which the service creates with mode 0700`,
  )
}
