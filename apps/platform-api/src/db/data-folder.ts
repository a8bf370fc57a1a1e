// Used before the program is loaded: it imports nothing but Node's own.
import { chmodSync, mkdirSync, statSync } from "node:fs"

/** The data folder can't be closed to other users of the machine. */
export class OpenDataFolder extends Error {
  override readonly name = "OpenDataFolder"
}

const writableByAll = 0o002
const sticky = 0o1000

/**
 * Makes the data folder, or closes it to all other users: who can write there can put a signing key or code of his own in.
 * Throws OpenDataFolder when every user can write to it and it is somebody else's, or a shared one like /tmp.
 */
export const closeDataFolder = (folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { mode } = statSync(folder)
  const isShared = (mode & sticky) !== 0 && (mode & writableByAll) !== 0
  try {
    if (!isShared) chmodSync(folder, 0o700)
  } catch {
    // A volume may belong to another user, and be open to the service's group alone.
  }
  if ((statSync(folder).mode & writableByAll) === 0) return
  throw new OpenDataFolder(
    `SVC_DATA_DIR: every user of this machine can write to ${folder}: name a folder of the service's own, with mode 0700`,
  )
}
