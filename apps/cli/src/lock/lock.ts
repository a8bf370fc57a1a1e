import { isObject, parseJson } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode } from "../errors.ts"
import { readEntry } from "../explore/stack.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { table } from "../output/table.ts"
import { readTextFile, writeOutput } from "../settings/files.ts"
import { apiForReading } from "../settings/key.ts"

const file = "svc.lock.json"

export type Locked = {
  readonly name: string
  readonly version: number
  readonly content_hash: string
  readonly api_url: string
}

const lockedOf = (value: unknown): Locked => {
  const version = isObject(value) ? value["version"] : undefined
  const [name, hash, url] = ["name", "content_hash", "api_url"].map((member) => textOf(value, member))
  if (!name || !hash || !url || typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) {
    throw new CliError("invalid-lock", `${file} has an entry without name, version, content_hash or api_url.`)
  }
  return { name, version, content_hash: hash, api_url: url }
}

/** The locked stacks of this folder. Throws no-lock without a lock file. */
export const readLocked = async (): Promise<readonly Locked[]> => {
  const text = await readTextFile(file)
  if (text === undefined) {
    throw new CliError("no-lock", `This folder has no ${file}.`, { next: "Next: svc lock STACK" })
  }
  const value = parseJson(text)
  if (!isObject(value) || !Array.isArray(value["stacks"])) {
    throw new CliError("invalid-lock", `${file} wasn't written by svc lock.`)
  }
  return listOf(value, "stacks").map(lockedOf)
}

export const noteDeprecated = (context: Context, stack: unknown): void => {
  const deprecated = isObject(stack) ? stack["deprecated"] : undefined
  if (!isObject(deprecated)) return
  const successor = textOf(deprecated, "successor")
  const instead = successor === "" ? "" : ` Its successor: svc explore ${successor}`
  context.note(`${textOf(stack, "name")} is deprecated: ${textOf(deprecated, "message")}${instead}`)
}

const orderOf = ({ name, api_url }: Locked): string => `${name} ${api_url}`

/** `svc lock STACK…`: writes the versions that this project uses. */
export const lock = async (context: Context): Promise<Outcome> => {
  const api = await apiForReading(context)
  const added: Locked[] = []
  for (const name of context.args) {
    const stack = await readEntry(api, name)
    noteDeprecated(context, stack)
    added.push(lockedOf({ ...(isObject(stack) ? stack : {}), api_url: api.url }))
  }
  const old = await readLocked().catch(onCode("no-lock", (): readonly Locked[] => []))
  const others = old.filter((one) => !added.some((entry) => orderOf(entry) === orderOf(one)))
  const stacks = [...others, ...added].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  await writeOutput(file, `${JSON.stringify({ stacks }, undefined, 2)}\n`)
  const rows = stacks.map(({ name, version, content_hash, api_url }) => [name, String(version), content_hash, api_url])
  return { json: { stacks }, text: (style) => table(["STACK", "VERSION", "CONTENT", "API"], rows, style) }
}
