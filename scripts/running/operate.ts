import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Environment } from "./start-plan.ts"

export const platformFolder = join(import.meta.dirname, "../../apps/platform-api")

/**
 * Runs an operator's command of the platform, and returns the JSON that it prints. The platform must not run on an embedded
 * database meanwhile. Rejects with the command's output if it fails.
 */
export const operate = async (env: Environment, ...command: readonly string[]): Promise<unknown> => {
  const { NODE_COMPILE_CACHE } = process.env
  const options = { cwd: platformFolder, env: { NODE_COMPILE_CACHE, ...env }, timeout: 60_000 }
  const { stdout } = await promisify(execFile)(process.execPath, ["src/main.ts", ...command], options)
  return JSON.parse(stdout)
}

/** Creates a person's account, and returns its key. */
export const createPerson = async (env: Environment, email: string, ...options: readonly string[]): Promise<string> => {
  const { api_key: key } = Object(await operate(env, "user", "create", "--email", email, ...options))
  return String(key)
}
