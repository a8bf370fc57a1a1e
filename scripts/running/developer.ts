import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { createPerson, platformFolder } from "./operate.ts"
import { type Environment, isSet } from "./start-plan.ts"

/**
 * Makes a person's account once, because agents may not publish stacks, and keeps its key in the data folder. It has to end
 * before the platform opens its embedded database. A server's accounts are its operator's. Resolves to the key's file, if
 * there is one.
 */
export const makeDeveloper = async (root: string, env: Environment): Promise<string | undefined> => {
  if (
    isSet(env, "DATABASE_URL") ||
    env["NODE_ENV"] === "production" ||
    !existsSync(join(platformFolder, "src/operator"))
  )
    return undefined
  const folder = isSet(env, "SVC_DATA_DIR") ? (env["SVC_DATA_DIR"] ?? "") : join(platformFolder, ".data")
  const file = join(folder, "developer.key")
  const shown = relative(root, file)
  if (existsSync(file)) return shown
  try {
    await writeFile(file, `${await createPerson(env, "developer@localhost", "--name", "Developer")}\n`, { mode: 0o600 })
    return shown
  } catch {
    // The account exists and its key's file was deleted, or the platform itself says what is wrong.
    return undefined
  }
}
