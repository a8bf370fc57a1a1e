import { randomUUID } from "node:crypto"
import { closeSync, openSync, readdirSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"

/** Another process uses the folder. */
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
 * Keeps other processes out of a folder until this one ends, however it ends. The lock is a listening socket, which the
 * system closes with its process. Each process announces itself before it looks for others, so two that start together
 * never both succeed, but both may be rejected. Throws FolderInUse.
 */
export const lockFolder = async (folder: string): Promise<{ readonly release: () => void }> => {
  // A socket's path is limited to about 100 bytes. On Linux an open folder has a short path.
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
    // Also handles later errors: a failed connection of another process doesn't matter here.
    server.on("error", reject)
    server.listen(join(short, own), resolve)
  })
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(suffix) || name === own) continue
    if (await answers(join(short, name))) {
      release()
      throw new FolderInUse(`another process uses the data folder ${folder}`)
    }
    // Its process has ended. Names are unique, so this can't be another process's lock.
    rmSync(join(folder, name), { force: true })
  }
  return { release }
}
