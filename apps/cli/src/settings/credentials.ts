import { chmod, open, readdir, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { CliError, isMissing, systemReason } from "../errors.ts"
import { lockFile } from "./file-lock.ts"
import { isObject } from "@svc/common/json-object"
import { parseJson } from "../output/json-value.ts"
import { makeFolder, replaceFile } from "./replace-file.ts"

/** What is kept for one API URL. */
export type Credential = {
  readonly api_key: string
  readonly slug?: string
  readonly display_name?: string
}

type Credentials = Readonly<Record<string, Credential>>

export const credentialsFile = (folder: string): string => join(folder, "credentials.json")

const isCredential = (value: unknown): value is Credential =>
  isObject(value) && typeof value["api_key"] === "string" && value["api_key"] !== ""

/** All kept credentials, by API URL; none when there is no file. */
export const readCredentials = async (folder: string): Promise<Credentials> => {
  const path = credentialsFile(folder)
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (isMissing(error)) return "{}"
    throw new CliError("credentials-unreadable", `${path} cannot be read (${systemReason(error)}).`)
  })
  const value = parseJson(text)
  // Without a prototype, so that a URL such as "constructor" finds nothing; of the content nothing is shown.
  const kept: Record<string, Credential> = Object.create(null)
  if (!isObject(value)) throw new CliError("credentials-unreadable", `${path} is not a JSON object.`)
  for (const [url, credential] of Object.entries(value)) {
    if (!isCredential(credential)) throw new CliError("credentials-unreadable", `${path} has an entry without api_key.`)
    kept[url] = credential
  }
  return kept
}

export type OpenCredentials = {
  readonly credentials: Credentials
  /** Replaces the file, its old content kept beside it as `.bak` when asked for; the path of that copy, if one was made. */
  readonly save: (credentials: Credentials, options?: { readonly backup?: boolean }) => Promise<string | undefined>
}

const unwritable = (folder: string, error: unknown): CliError =>
  new CliError("credentials-unwritable", `${folder} cannot be written to (${systemReason(error)}).`)

/**
 * Opens the credentials for a change that no other process makes at the same time. That a file can be written there is
 * proven before `change` runs, which may call the API and get a key that is shown once.
 */
export const changeCredentials = async <T>(
  folder: string,
  change: (open: OpenCredentials) => Promise<T>,
): Promise<T> => {
  const path = credentialsFile(folder)
  const temporary = `${path}.tmp`
  const lock = await (async () => {
    await makeFolder(folder, 0o700)
    await chmod(folder, 0o700)
    return lockFile(`${path}.lock`)
  })().catch((error: unknown) => {
    throw error instanceof CliError ? error : unwritable(folder, error)
  })
  try {
    const credentials = await readCredentials(folder)
    const file = await (async () => {
      // Left by a process that was killed: whoever has the lock is alone here.
      await rm(temporary, { force: true })
      return open(temporary, "wx", 0o600)
    })().catch((error: unknown) => {
      throw unwritable(folder, error)
    })
    try {
      return await change({
        credentials,
        save: async (next, { backup = false } = {}) => {
          const copy = `${path}.bak`
          const copied = backup && (await readdir(folder)).includes("credentials.json")
          if (copied) await replaceFile(copy, await readFile(path), 0o600)
          await file.writeFile(`${JSON.stringify(next, undefined, 2)}\n`)
          await file.sync()
          await file.close()
          if (!(await lock.isHeld())) {
            throw new CliError("credentials-locked", `Another svc has taken over ${path}; nothing was saved.`)
          }
          await rename(temporary, path)
          return copied ? copy : undefined
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
