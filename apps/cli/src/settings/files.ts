import { createReadStream } from "node:fs"
import { mkdir, open, readFile, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { isObject, type JsonObject, parseJson } from "@svc/common/json-object"
import { readAtMost } from "@svc/common/read-at-most"
import { asCode, CliError, isMissing, systemReason } from "../errors.ts"

/** Stands for the settings folder of a user without a home folder. There is nothing in it. */
export const nowhere = "/dev/null/svc"

/** The settings folder, for what has to be stored. Throws no-home-folder. */
export const storedIn = (folder: string): string => {
  if (folder !== nowhere) return folder
  throw new CliError("no-home-folder", "This user has no home folder to store files in.")
}

/**
 * Makes a folder and its missing parents. Node's own recursive mkdir never ends where an existing folder can't contain any: in a
 * deleted working directory, or in /proc.
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

/** The file that a path leads to through symbolic links. The last one may lead to a file that doesn't exist yet. */
export const linkTarget = (path: string): Promise<string> =>
  realpath(path).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error
    const folder = await realpath(dirname(path))
    const next = await readlink(path).catch(() => undefined)
    return next === undefined ? join(folder, basename(path)) : linkTarget(resolve(folder, next))
  })

/**
 * Replaces a file as a whole: a reader sees the old or the new content, never a part. A symbolic link stays, and the file that it
 * points to is replaced. The folder must exist.
 * @param mode of the new file, as open(2) takes it
 */
export const replaceFile = async (path: string, content: string | Uint8Array, mode: number): Promise<void> => {
  const target = await linkTarget(path)
  const temporary = `${target}.${process.pid}.tmp`
  await rm(temporary, { force: true })
  const file = await open(temporary, "wx", mode)
  try {
    await file.writeFile(content)
    await file.sync()
    await file.close()
    await rename(temporary, target)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(temporary, { force: true })
    throw error
  }
}

const writeAny = async (path: string, content: string): Promise<void> => {
  const folder = await realpath(dirname(path))
  const found = await stat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error
  })
  const isFile = found === undefined || found.isFile()
  if (!isFile || folder === "/dev" || folder.startsWith("/proc/")) await writeFile(path, content)
  else await replaceFile(path, content, found === undefined ? 0o666 : found.mode & 0o777)
}

/**
 * Writes a file that the user named. An existing file is replaced and keeps its mode. A device or a pipe is written to directly,
 * also under the names of open files, such as /dev/fd/63.
 */
export const writeOutput = (path: string, content: string): Promise<void> =>
  writeAny(path, content).catch(asCode("unwritable-file", (reason) => `${path} can't be written (${reason})`))

/** A text that a person may have written on Windows: without a byte order mark, from UTF-16 if the mark says so. */
export const textOf = (bytes: Uint8Array): string => {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex")
  return new TextDecoder(mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : "utf-8").decode(bytes)
}

/** The object in a JSON file of the settings folder, which is empty if there is no file. The error has this code. */
export const readObject = async (path: string, code: string): Promise<JsonObject> => {
  const text = await readFile(path).then(textOf, (error: unknown) => {
    if (isMissing(error)) return "{}"
    throw new CliError(code, `${path} can't be read (${systemReason(error)}).`)
  })
  const value = parseJson(text)
  if (!isObject(value)) throw new CliError(code, `${path} isn't a JSON object.`)
  return value
}

/** More than an AST or a lock file has: the API takes 2 MiB. A device, such as /dev/zero, has no end. */
export const largestFile = 8 * 2 ** 20

/** The text of a file; undefined if it doesn't exist. */
export const readTextFile = async (path: string): Promise<string | undefined> => {
  try {
    return textOf(await readAtMost({ body: createReadStream(path) }, largestFile, `over ${largestFile / 2 ** 20} MiB`))
  } catch (error) {
    if (systemReason(error) === "ENOENT") return undefined
    throw new CliError("unreadable-file", `${path} can't be read (${systemReason(error)}).`)
  }
}
