import { randomUUID } from "node:crypto"
import { closeSync, openSync, readdirSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"

/** Another process has the folder. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse"
}

const suffix = ".lock.sock"

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

/**
 * Keeps every other process out of a folder until this one ends, however it ends: the lock is a listening socket, which
 * the system closes with its process. First announce, then look: of two processes that come at once at least one sees the
 * other, so never do both get in (both may be refused). Throws FolderInUse.
 */
export const lockFolder = async (folder: string): Promise<{ readonly release: () => void }> => {
  // A socket's path may be about 100 bytes long; on Linux an open folder has a short name.
  const handle = openSync(folder, "r")
  const short = process.platform === "linux" ? `/proc/self/fd/${handle}` : folder
  const own = `${randomUUID().slice(0, 8)}${suffix}`
  const server = createServer((socket) => socket.destroy())
  server.unref()
  const release = (): void => {
    server.close()
    rmSync(join(folder, own), { force: true })
    closeSync(handle)
  }
  await new Promise<void>((resolve, reject) => {
    // Also of later faults: a caller that can't be taken in is none of this process's business.
    server.on("error", reject)
    server.listen(join(short, own), resolve)
  })
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(suffix) || name === own) continue
    if (await answers(join(short, name))) {
      release()
      throw new FolderInUse(`another process uses the data folder ${folder}`)
    }
    // Its process is gone; names are never used twice, so nobody else's lock can stand there.
    rmSync(join(folder, name), { force: true })
  }
  return { release }
}
