import { lstat, mkdir, open, realpath, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { isMissing, systemReason } from "../errors.ts"

/**
 * Makes a folder and those above it that are missing. Node's own recursive mkdir never ends where a folder that is there
 * can hold none: in one that was deleted while a shell is in it, or in /proc.
 */
export const makeFolder = async (path: string, mode: number): Promise<void> => {
  const make = (): Promise<void> =>
    mkdir(path, { mode }).catch((error: unknown) => {
      if (systemReason(error) !== "EEXIST") throw error
    })
  await make().catch(async (error: unknown) => {
    if (systemReason(error) !== "ENOENT" || dirname(path) === path) throw error
    await makeFolder(dirname(path), mode)
    await make()
  })
}

/**
 * Puts a whole file in the place of another: a reader sees the old or the new one, never a part. A symbolic link is
 * replaced itself, what it leads to stays as it is. The folder must exist.
 * @param mode of the new file, as open(2) takes it
 */
export const replaceFile = async (path: string, content: string | Uint8Array, mode: number): Promise<void> => {
  const temporary = `${path}.${process.pid}.tmp`
  await rm(temporary, { force: true })
  const file = await open(temporary, "wx", mode)
  try {
    await file.writeFile(content)
    await file.sync()
    await file.close()
    await rename(temporary, path)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(temporary, { force: true })
    throw error
  }
}

/**
 * Writes a file that the user names: one that is there is replaced and keeps its mode; a device or a pipe is written as it
 * is, also by the names that the system gives to open files (/dev/fd/63).
 */
export const writeOutput = async (path: string, content: string): Promise<void> => {
  const folder = await realpath(dirname(path))
  const found = await lstat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error
  })
  const isFile = found === undefined || found.isFile() || found.isSymbolicLink()
  if (!isFile || folder === "/dev" || folder.startsWith("/proc/")) await writeFile(path, content)
  else await replaceFile(path, content, found?.isFile() === true ? found.mode & 0o777 : 0o666)
}
