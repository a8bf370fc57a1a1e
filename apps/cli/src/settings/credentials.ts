import { chmod, open, readdir, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { asCode, CliError, systemReason } from "../errors.ts"
import { lockFile } from "./file-lock.ts"
import { isObject } from "@svc/common/json-object"
import { linkTarget, makeFolder, readObject, replaceFile, storedIn } from "./files.ts"

/** What is stored for one API URL. */
export type Credential = {
  readonly api_key: string
  readonly slug?: string
  readonly display_name?: string
}

type Credentials = Readonly<Record<string, Credential>>

export const credentialsFile = (folder: string): string => join(folder, "credentials.json")

const isCredential = (value: unknown): value is Credential =>
  isObject(value) && typeof value["api_key"] === "string" && value["api_key"] !== ""

/** All stored credentials, by API URL; none if there is no file. */
export const readCredentials = async (folder: string): Promise<Credentials> => {
  const path = credentialsFile(folder)
  // Without a prototype, so that a URL such as "constructor" finds nothing.
  const kept: Record<string, Credential> = Object.create(null)
  for (const [url, credential] of Object.entries(await readObject(path, "credentials-unreadable"))) {
    if (!isCredential(credential)) throw new CliError("credentials-unreadable", `${path} has an entry without api_key.`)
    kept[url] = credential
  }
  return kept
}

export type OpenCredentials = {
  readonly credentials: Credentials
  /**
   * Replaces the file. With `backup` it copies the old one to `.bak` first; returns the copy's path if there is one.
   * @param failure makes the error for a file that can't be written; `what` says so
   */
  readonly save: (
    credentials: Credentials,
    failure?: (what: string) => CliError,
    backup?: boolean,
  ) => Promise<string | undefined>
}

const documentOf = (credentials: Credentials): string => `${JSON.stringify(credentials, undefined, 2)}\n`

/** More than a key with its names and URLs adds to the file. */
const roomForEntry = 8192

/**
 * Opens the credentials for a change, while other processes wait. It tests that the file can be written before `change` runs,
 * because `change` may call the API and get a key that nobody can get again. It takes the room too: a full disk still opens files.
 */
export const changeCredentials = async <T>(
  folder: string,
  change: (open: OpenCredentials) => Promise<T>,
): Promise<T> => {
  const path = credentialsFile(folder)
  const unwritable = asCode("credentials-unwritable", (reason) => `${folder} can't be written to (${reason})`)
  const lock = await makeFolder(storedIn(folder), 0o700)
    .then(() => chmod(folder, 0o700))
    .then(() => lockFile(`${path}.lock`))
    .catch(unwritable)
  try {
    const credentials = await readCredentials(folder)
    const target = await linkTarget(path).catch(unwritable)
    const temporary = `${target}.tmp`
    // A killed process may have left it; only the holder of the lock writes it.
    const file = await rm(temporary, { force: true })
      .then(() => open(temporary, "wx", 0o600))
      .catch(unwritable)
    try {
      await file
        .write(" ".repeat(documentOf(credentials).length + roomForEntry))
        .then(() => file.sync())
        .catch(unwritable)
      return await change({
        credentials,
        save: async (next, failure = (what) => new CliError("credentials-unwritable", `${what}.`), backup = false) => {
          try {
            const copied = backup && (await readdir(folder)).includes("credentials.json")
            if (copied) await replaceFile(`${path}.bak`, await readFile(path), 0o600)
            const { bytesWritten } = await file.write(documentOf(next), 0)
            await file.truncate(bytesWritten)
            await file.sync()
            await file.close()
            if (!(await lock.isHeld())) {
              throw new CliError("credentials-locked", `Another svc has taken the lock of ${path}; nothing was saved.`)
            }
            await rename(temporary, target)
            return copied ? `${path}.bak` : undefined
          } catch (error) {
            throw failure(`${path} wasn't written (${systemReason(error)})`)
          }
        },
      })
    } finally {
      await file.close().catch(() => {})
      await rm(temporary, { force: true }).catch(() => {})
    }
  } finally {
    await lock.release().catch(() => {})
  }
}
