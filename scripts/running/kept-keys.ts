// Keys that `pnpm start` creates once and stores next to the embedded database that they belong to.
import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { shellWord } from "../../packages/common/src/foreign-text.ts"
import { createPerson, operate, platformFolder } from "./operate.ts"
import { type Environment, isSet, type PlannedService } from "./start-plan.ts"

const canOperate = existsSync(join(platformFolder, "src/operator"))

/** The file of a stored key; undefined with a server's database, which others may replace. */
const fileOf = (env: Environment, name: string): string | undefined => {
  if (isSet(env, "DATABASE_URL")) return undefined
  return join(isSet(env, "SVC_DATA_DIR") ? (env["SVC_DATA_DIR"] ?? "") : join(platformFolder, ".data"), name)
}

const keep = (file: string, key: string): Promise<void> => writeFile(file, `${key}\n`, { mode: 0o600 })

/**
 * Creates a person's account once, because agents may not publish stacks. It must end before the platform opens its embedded
 * database. On a server's database, accounts are the operator's task. Resolves to the key's file, as a word of a
 * shell command, if there is one.
 */
export const makeDeveloper = async (root: string, env: Environment): Promise<string | undefined> => {
  const file = fileOf(env, "developer.key")
  if (file === undefined || env["NODE_ENV"] === "production" || !canOperate) return undefined
  const shown = shellWord(relative(root, file))
  if (existsSync(file)) return shown
  try {
    await keep(file, await createPerson(env, "developer@localhost", "--name", "Developer"))
    return shown
  } catch {
    // The account exists and its key's file was deleted, or the platform itself will report what is wrong.
    return undefined
  }
}

/**
 * Sets the key with which the documentation's pages show live data: that of the last start, or a new one, which revokes it. It
 * must end before the platform runs on its database. Without a key, pages ask for one. If something is wrong with the
 * platform, its own start reports it.
 */
export const withViewerKey = async (planned: readonly PlannedService[]): Promise<readonly PlannedService[]> => {
  const [docs, platform] = ["docs", "platform"].map((name) => planned.find(({ service }) => service.name === name))
  if (docs === undefined || platform === undefined || isSet(docs.env, "SVC_VIEWER_KEY") || !canOperate) return planned
  const { origin } = new URL(docs.env["SVC_DOCS_URL"] ?? docs.url)
  // A key is valid for one origin.
  const file = fileOf(platform.env, `viewer-${encodeURIComponent(origin)}.key`)
  const make = async (): Promise<unknown> => {
    const { key } = Object(await operate(platform.env, "viewer-key", "create", "--replace", "--origin", origin))
    if (file !== undefined && typeof key === "string") await keep(file, key)
    return key
  }
  const kept = file === undefined ? "" : await readFile(file, "utf8").catch(() => "")
  const key = kept.trim() || (await make().catch(() => undefined))
  if (typeof key !== "string") return planned
  return planned.map((one) => (one === docs ? { ...docs, env: { ...docs.env, SVC_VIEWER_KEY: key } } : one))
}
