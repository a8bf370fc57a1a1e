import { isObject, parseJson } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { asCode, CliError, onCode } from "../errors.ts"
import { noteDeprecated, readEntry } from "../explore/stack.ts"
import { table } from "../output/table.ts"
import { lockFile } from "../settings/file-lock.ts"
import { linkTarget, readTextFile, writeOutput } from "../settings/files.ts"
import { apiForReading } from "../settings/key.ts"

export const file = "svc.lock.json"

export type Locked = {
  readonly name: string
  readonly version: number
  readonly content_hash: string
  readonly api_url: string
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const lockedOf = (value: unknown): Locked => {
  const { name, version, content_hash, api_url }: Partial<Record<keyof Locked, unknown>> = isObject(value) ? value : {}
  const isVersion = typeof version === "number" && Number.isSafeInteger(version) && version >= 1
  if (isText(name) && isText(content_hash) && isText(api_url) && isVersion) {
    return { name, version, content_hash, api_url }
  }
  throw new CliError("invalid-lock", `${file} has an entry without name, version, content_hash or api_url.`)
}

/** The locked stacks of this folder. Throws no-lock without a lock file. */
export const readLocked = async (): Promise<readonly Locked[]> => {
  const text = await readTextFile(file)
  if (text === undefined) {
    throw new CliError("no-lock", `This folder has no ${file}.`, { next: "Next: svc lock STACK" })
  }
  const value = parseJson(text)
  const { stacks }: { readonly stacks?: unknown } = isObject(value) ? value : {}
  if (!Array.isArray(stacks)) throw new CliError("invalid-lock", `${file} wasn't written by svc lock.`)
  return stacks.map(lockedOf)
}

const orderOf = ({ name, api_url }: Locked): string => `${name} ${api_url}`

/** Replaces the locked stacks, one process at a time. */
const change = async (next: (old: readonly Locked[]) => readonly Locked[]): Promise<readonly Locked[]> => {
  const held = await linkTarget(file)
    .then((target) => lockFile(`${target}.lock`))
    .catch(asCode("unwritable-file", (reason) => `${file} can't be written (${reason})`))
  try {
    const stacks = next(await readLocked().catch(onCode("no-lock", (): readonly Locked[] => [])))
    await writeOutput(file, `${JSON.stringify({ stacks }, undefined, 2)}\n`)
    return stacks
  } finally {
    await held.release()
  }
}

/** `svc lock STACK…`: writes the versions that this project uses. */
export const lock = async (context: Context): Promise<Outcome> => {
  const api = await apiForReading(context)
  const added: Locked[] = []
  for (const name of context.args) {
    const stack = await readEntry(api, name)
    noteDeprecated(context, stack)
    const { name: own, version, content_hash } = stack
    added.push({ name: own, version, content_hash, api_url: api.url })
  }
  const stacks = await change((old) => {
    const others = old.filter((one) => !added.some((entry) => orderOf(entry) === orderOf(one)))
    return [...others, ...added].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  })
  const rows = stacks.map(({ name, version, content_hash, api_url }) => [name, version, content_hash, api_url])
  return { json: { stacks }, text: (style) => table(["STACK", "VERSION", "CONTENT", "API"], rows, style) }
}
