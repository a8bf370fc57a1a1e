import { readdir, realpath, stat } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"

const types: Readonly<Record<string, string>> = {
  ".avif": "image/avif",
  ".gif": "image/gif",
  ".ico": "image/x-icon",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
}

/** The media type of an image by its file name; undefined for other files. */
export const imageType = (name: string): string | undefined => types[extname(name).toLowerCase()]

export const isImage = (name: string): boolean => imageType(name) !== undefined

const isFileWithin = async (root: string, path: string): Promise<boolean> =>
  (await realpath(path)).startsWith(root + sep) && (await stat(path)).isFile()

/**
 * Paths of the Markdown files and images below `dir`, sorted. Skips hidden folders, installed packages, links that lead
 * outside, and pipes.
 */
export const listFiles = async (dir: string): Promise<string[]> => {
  const root = await realpath(dir)
  const found: string[] = []
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) await walk(path)
      else if (!/\.mdx?$/.test(entry.name) && !isImage(entry.name)) continue
      else if (entry.isFile() || (await isFileWithin(root, path))) found.push(path)
    }
  }
  await walk(root)
  return found.map((path) => relative(root, path).split(sep).join("/")).sort()
}
