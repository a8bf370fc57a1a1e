import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"

/**
 * Puts a whole file in the place of another: a reader sees the old or the new one, never a part. The modes are those of a
 * new file and of folders made on the way.
 */
export const writeOver = async (
  path: string,
  content: string | Uint8Array,
  { mode, folderMode }: { readonly mode: number; readonly folderMode: number },
): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: folderMode })
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
