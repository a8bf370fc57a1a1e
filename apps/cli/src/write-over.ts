import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { systemReason } from "./errors.ts"

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
 * Puts a whole file in the place of another: a reader sees the old or the new one, never a part. The modes are those of a
 * new file and of folders made on the way.
 */
export const writeOver = async (
  path: string,
  content: string | Uint8Array,
  { mode, folderMode }: { readonly mode: number; readonly folderMode: number },
): Promise<void> => {
  await makeFolder(dirname(path), folderMode)
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
