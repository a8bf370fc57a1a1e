import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ConfigError, textOrFile } from "@svc/config"
import { generateSigningKey, readSigningKeys, type SigningKeys } from "@svc/session-token"
import type { Config } from "./config.ts"
import { closeDataFolder } from "./data-folder.ts"

/** How an operator makes the key that all replicas share. */
export const keyAdvice = "make one with the command `session-key generate`, and set SVC_SESSION_SIGNING_KEY_FILE"

/**
 * Writes the key file once, completely, and readable only by its owner. If another process was faster, its file is
 * used.
 */
const makeFile = async (path: string): Promise<void> => {
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, await generateSigningKey(), { mode: 0o600 })
  try {
    linkSync(unfinished, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** The keys from the environment, if they are set. Throws ConfigError, which never contains a key. */
export const readGivenKeys = async (
  env: Readonly<Record<string, string | undefined>>,
): Promise<SigningKeys | undefined> => {
  const keys = await textOrFile(env, "SVC_SESSION_SIGNING_KEY", readSigningKeys)
  const given = (name: string): string => env[name]?.trim() ?? ""
  if (keys === undefined && given("NODE_ENV") === "production" && given("DATABASE_URL") !== "")
    throw new ConfigError([`SVC_SESSION_SIGNING_KEY: is required in production: ${keyAdvice}`])
  return keys
}

/** The signing keys if none are set: generated once and kept in the data folder. Throws OpenDataFolder. */
export const keepSigningKeys = async (
  config: Pick<Config, "dataFolder" | "databaseUrl">,
  warn: (message: string) => void,
): Promise<SigningKeys> => {
  if (config.databaseUrl !== undefined) warn(`all replicas need the same signing key: ${keyAdvice}`)
  closeDataFolder(config.dataFolder)
  const path = join(config.dataFolder, "session-signing-key.json")
  if (!existsSync(path)) await makeFile(path)
  return readSigningKeys(readFileSync(path, "utf8"))
}
