import type { Api } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { watchLocked } from "./check-watch.ts"
import { CliError, systemReason, usageError } from "../errors.ts"
import { isObject } from "@svc/common/json-object"
import { listOf, parseJson, textOf } from "../output/json-value.ts"
import { apiForReading } from "../settings/key.ts"
import { writeOutput } from "../settings/replace-file.ts"
import { plain, table } from "../output/table.ts"
import { changeRows, readJson, stackPath, textOfFile } from "../explore/versions.ts"

const file = "svc.lock.json"

type Locked = {
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

/** What is locked in this folder; undefined without a file. */
const readLock = async (): Promise<readonly Locked[] | undefined> => {
  const text = await textOfFile(file)
  if (text === undefined) return undefined
  const value = parseJson(text)
  if (!isObject(value) || !Array.isArray(value["stacks"])) {
    throw new CliError("invalid-lock", `${file} is not what svc lock writes.`)
  }
  return listOf(value, "stacks").map(lockedOf)
}

const order = (a: Locked, b: Locked): number => {
  const [left, right] = [a, b].map(({ name, api_url }) => `${name} ${api_url}`)
  return (left ?? "") < (right ?? "") ? -1 : 1
}

const warnDeprecated = (context: Context, stack: unknown): void => {
  const deprecated = isObject(stack) ? stack["deprecated"] : undefined
  if (!isObject(deprecated)) return
  const successor = textOf(deprecated, "successor")
  const instead = successor === "" ? "" : ` Its successor: svc explore ${successor}`
  context.note(`${textOf(stack, "name")} is deprecated: ${textOf(deprecated, "message")}${instead}`)
}

/** `svc lock NAME…`: writes down which versions this project is written for. */
export const lock = async (context: Context): Promise<Outcome> => {
  const api = await apiForReading(context)
  const added: Locked[] = []
  for (const name of context.args) {
    const stack = await readJson(api, stackPath(name))
    warnDeprecated(context, stack)
    added.push(lockedOf({ ...(isObject(stack) ? stack : {}), api_url: api.url }))
  }
  const kept = ((await readLock()) ?? []).filter(
    (old) => !added.some(({ name, api_url }) => name === old.name && api_url === old.api_url),
  )
  const stacks = [...kept, ...added].sort(order)
  await writeOutput(file, `${JSON.stringify({ stacks }, undefined, 2)}\n`).catch((error: unknown) => {
    throw new CliError("unwritable-file", `${file} cannot be written (${systemReason(error)}).`)
  })
  const rows = stacks.map(({ name, version, content_hash, api_url }) => [name, String(version), content_hash, api_url])
  return { json: { stacks }, text: table(["STACK", "VERSION", "CONTENT", "API"], rows, context.bold) }
}

type Checked = {
  readonly name: string
  readonly locked: number
  /** The version that is served; null where the stack is gone, or not asked for. */
  readonly now: number | null
  readonly verdict: string
  readonly changes: readonly unknown[]
}

const checkOne = async (context: Context, api: Api, { name, version, content_hash }: Locked): Promise<Checked> => {
  const stack = await readJson(api, stackPath(name)).catch((error: unknown) => {
    if (error instanceof CliError && error.code === "stack-not-found") return undefined
    throw error
  })
  if (stack === undefined) return { name, locked: version, now: null, verdict: "breaking", changes: [] }
  warnDeprecated(context, stack)
  const now = Number(textOf(stack, "version"))
  const same = now === version && textOf(stack, "content_hash") === content_hash
  if (same) return { name, locked: version, now, verdict: "none", changes: [] }
  // One number with two contents: this is another stack of that name.
  if (now === version) return { name, locked: version, now, verdict: "breaking", changes: [] }
  const diff = await readJson(api, stackPath(name, `/diff?from=${version}&to=${now}`)).catch((error: unknown) => {
    // The locked version was never this stack's: the name has passed on.
    if (error instanceof CliError && error.code === "version-not-found") return { verdict: "breaking" }
    throw error
  })
  return { name, locked: version, now, verdict: textOf(diff, "verdict"), changes: listOf(diff, "changes") }
}

/** What is locked against what is served now. Throws breaking-change. */
const compare = async (context: Context, api: Api, locked: readonly Locked[]): Promise<Outcome> => {
  const stacks: Checked[] = []
  for (const one of locked) {
    if (one.api_url === api.url) stacks.push(await checkOne(context, api, one))
    else {
      context.note(`${one.name} is of ${one.api_url} and was not asked there; use --api-url ${one.api_url}`)
      stacks.push({ name: one.name, locked: one.version, now: null, verdict: "not-asked", changes: [] })
    }
  }
  const broken = stacks.filter(({ verdict }) => verdict === "breaking")
  if (broken.length > 0) {
    const reasons = broken.map((stack) => {
      const changes = changeRows(stack).flatMap(([kind, path = "", text = ""]) =>
        kind !== "breaking" ? [] : text.includes(path) ? [text] : [`${path}: ${text}`],
      )
      const gone = stack.now === null ? "it is gone" : "it is another stack than the one that was locked"
      return `${stack.name} (locked ${stack.locked}, now ${stack.now ?? "none"}): ${changes.length === 0 ? gone : changes.join("; ")}`
    })
    throw new CliError("breaking-change", plain(reasons.join(". ")), {
      next: `Next: svc diff ${broken[0]?.name ?? "NAME"}, mend the code, then svc lock ${broken.map(({ name }) => name).join(" ")}`,
      extra: { stacks },
    })
  }
  const rows = stacks.map(({ name, locked: old, now, verdict }) => [
    name,
    String(old),
    now === null ? "" : String(now),
    verdict,
  ])
  return { json: { stacks }, text: table(["STACK", "LOCKED", "NOW", "VERDICT"], rows, context.bold) }
}

/** `svc check`: whether what the registry serves now breaks what is locked; with --watch, what changes from now on too. */
export const check = async (context: Context): Promise<Outcome | undefined> => {
  const failOn = context.options["fail-on"]
  if (failOn !== undefined && failOn !== "breaking") throw usageError("--fail-on takes breaking.", "check")
  const locked = await readLock()
  if (locked === undefined) {
    throw new CliError("no-lock", `There is no ${file} in this folder.`, { next: "Next: svc lock NAME" })
  }
  const api = await apiForReading(context)
  if (!context.flags.has("watch")) return compare(context, api, locked)
  // Read first: what changes during the comparison is told as well.
  const after = Number(textOf(await readJson(api, "/api/registry/changes?limit=1"), "next"))
  try {
    const { text } = await compare(context, api, locked)
    if (!context.flags.has("json")) context.write(`${text}\n`)
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== "breaking-change" || failOn !== undefined) throw error
    context.note(error.message)
  }
  const names = new Set(locked.flatMap(({ name, api_url }) => (api_url === api.url ? [name] : [])))
  return watchLocked(context, api, names, { after, failsOnBreaking: failOn !== undefined })
}
