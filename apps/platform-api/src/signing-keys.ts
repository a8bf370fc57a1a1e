import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { generateSigningKey, readSigningKeys, type SigningKeys } from "@svc/session-token"
import type { Settings } from "./config.ts"

const advice =
  "make one key for all replicas with `node src/main.ts session-key generate` and set SVC_SESSION_SIGNING_KEY"

/** Makes the key file once, whole and readable by its owner alone; a start that lost the race takes the winner's. */
const makeFile = async (path: string): Promise<void> => {
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, await generateSigningKey(), { mode: 0o600 })
  try {
    linkSync(unfinished, path)
  } catch (error) {
    if (!isExisting(error)) throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code
const isExisting = (error: unknown): boolean => hasCode(error, "EEXIST")

const readOrMake = async (path: string): Promise<string> => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error
    await makeFile(path)
    return readFileSync(path, "utf8")
  }
}

const readKeyFile = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    throw new Error("SVC_SESSION_SIGNING_KEY_FILE: the file cannot be read")
  }
}

/**
 * The keys that session tokens are signed with: from the settings, or made once and kept in the data folder. Throws an
 * Error whose message holds nothing of a key.
 */
export const loadSigningKeys = async (
  settings: Pick<
    Settings,
    "SVC_SESSION_SIGNING_KEY" | "SVC_SESSION_SIGNING_KEY_FILE" | "SVC_DATA_DIR" | "DATABASE_URL" | "NODE_ENV"
  >,
  warn: (message: string) => void,
): Promise<SigningKeys> => {
  if (settings.SVC_SESSION_SIGNING_KEY !== undefined) return readSigningKeys(settings.SVC_SESSION_SIGNING_KEY.reveal())
  const file = settings.SVC_SESSION_SIGNING_KEY_FILE
  if (file !== undefined) return readSigningKeys(readKeyFile(file))
  if (settings.DATABASE_URL !== undefined) {
    if (settings.NODE_ENV === "production")
      throw new Error(`SVC_SESSION_SIGNING_KEY: is required in production: ${advice}`)
    warn(`replicas need one signing key: ${advice}`)
  }
  mkdirSync(settings.SVC_DATA_DIR, { recursive: true, mode: 0o700 })
  return readSigningKeys(await readOrMake(join(settings.SVC_DATA_DIR, "session-signing-key.json")))
}
