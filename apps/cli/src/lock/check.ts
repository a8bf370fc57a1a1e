import { shellWord } from "@svc/common/foreign-text"
import type { Diff, RegistryChange } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode } from "../errors.ts"
import { noteDeprecated, readChanges, readDiff, readEntry } from "../explore/stack.ts"
import { changeRows } from "../explore/versions.ts"
import { plain, table } from "../output/table.ts"
import { type Api, platformOf, readPages } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { untilStopped } from "../until-stopped.ts"
import { file, type Locked, readLocked } from "./lock.ts"

type Checked = {
  readonly name: string
  readonly locked: number
  /** The version that is served now; null if the stack is gone, or belongs to another API. */
  readonly now: number | null
  readonly verdict: Diff["verdict"] | "not-asked"
  readonly changes: Diff["changes"]
}

const checkOne = async (context: Context, api: Api, { name, version, content_hash }: Locked): Promise<Checked> => {
  const stack = await readEntry(api, name).catch(onCode("stack-not-found", () => undefined))
  const entry = { name, locked: version, changes: [] }
  if (stack === undefined) return { ...entry, now: null, verdict: "breaking" }
  noteDeprecated(context, stack)
  const now = stack.version
  // The same version with other content: another stack has taken the name.
  if (now === version) {
    return { ...entry, now, verdict: stack.content_hash === content_hash ? "none" : "breaking" }
  }
  const published = await readPages(api, ({ registry }, page) => registry.versions(stack.name, page))
  // This stack never had the locked version: another one has taken the name.
  if (!published.some((one) => one.version === version && one.content_hash === content_hash)) {
    return { ...entry, now, verdict: "breaking" }
  }
  const { verdict, changes } = await readDiff(api, name, { from: version, to: now })
  return { ...entry, now, verdict, changes }
}

const reasonOf = (stack: Checked): string => {
  const changes = changeRows(stack).flatMap(([kind, path = "", text = ""]) =>
    kind !== "breaking" ? [] : text.includes(path) ? [text] : [`${path}: ${text}`],
  )
  const gone = stack.now === null ? "it is gone" : "it is another stack than the locked one"
  const now = stack.now ?? "none"
  return `${stack.name} (locked ${stack.locked}, now ${now}): ${changes.length === 0 ? gone : changes.join("; ")}`
}

/** A stack that is gone can't be compared or locked. Of one that replaced another, no earlier version is of the locked stack. */
const nextOf = (broken: readonly Checked[]): string => {
  const there = broken.filter(({ now }) => now !== null)
  const gone = broken.filter(({ now }) => now === null).map(({ name }) => name)
  const isDiffable = ({ changes }: Checked): boolean => changes.length > 0
  const first = there.find(isDiffable) ?? there[0]
  const look = first === undefined ? "explore" : `${isDiffable(first) ? "diff" : "explore"} ${shellWord(first.name)}`
  const names = there.map(({ name }) => shellWord(name)).join(" ")
  return [
    `svc ${look}, change the code`,
    ...(there.length > 0 ? [`then svc lock ${names}`] : []),
    ...(gone.length > 0 ? [`and remove ${gone.map(plain).join(", ")} from ${file}`] : []),
  ].join(", ")
}

/** Compares the locked versions with those that are served now. Throws breaking-change. */
const compare = async (context: Context, api: Api, locked: readonly Locked[]): Promise<Outcome> => {
  const stacks: Checked[] = []
  for (const one of locked) {
    const { name, version, api_url } = one
    if (api_url === api.url) stacks.push(await checkOne(context, api, one))
    else {
      context.note(
        `${name} belongs to ${api_url}, so it wasn't checked. Next: svc check --api-url ${shellWord(api_url)}`,
      )
      stacks.push({ name, locked: version, now: null, verdict: "not-asked", changes: [] })
    }
  }
  const broken = stacks.filter(({ verdict }) => verdict === "breaking")
  if (broken.length > 0) {
    throw new CliError("breaking-change", plain(broken.map(reasonOf).join(". ")), {
      next: `Next: ${nextOf(broken)}`,
      extra: { stacks },
    })
  }
  const rows = stacks.map(({ name, locked: old, now, verdict }) => [name, old, now, verdict])
  return { json: { stacks }, text: (style) => table(["STACK", "LOCKED", "NOW", "VERDICT"], rows, style) }
}

const lineOf = (change: RegistryChange): string => {
  const { at, stack, kind, version, previous_version: previous, verdict, message, successor } = change
  const was = previous === undefined ? "" : ` (was ${previous})`
  const instead = successor === undefined ? "" : `; its successor: ${successor}`
  return plain(`${at} ${stack} ${kind}, version ${version}${was}: ${verdict}${message ? `. ${message}` : ""}${instead}`)
}

/** `svc check`: whether the registry breaks what is locked; with --watch, also every later change. */
export const check = async (context: Context): Promise<Outcome | undefined> => {
  const failsOnBreaking = context.options["fail-on"] !== undefined
  const locked = await readLocked()
  const api = await apiForReading(context)
  if (!context.flags.has("watch")) return compare(context, api, locked)
  return untilStopped(context, undefined, async (signal) => {
    // Read before the comparison, so that a change during it isn't missed.
    const { next: after } = await readChanges(api, { limit: 1 })
    const now = await compare(context, api, locked).catch(
      onCode("breaking-change", (error) => {
        if (failsOnBreaking) throw error
        context.note(error.message)
        return undefined
      }),
    )
    if (now !== undefined && context.format === "text") context.write(`${now.text(context.style)}\n`)
    const names = new Set(locked.flatMap(({ name, api_url }) => (api_url === api.url ? [name] : [])))
    for await (const change of platformOf(api).registry.changes({ after, signal })) {
      if (!names.has(change.stack)) continue
      const isRead = context.format === "text" ? context.write(`${lineOf(change)}\n`) : context.writeRecord(change)
      if (change.verdict === "breaking" && failsOnBreaking) {
        throw new CliError("breaking-change", `${plain(change.stack)} changed so that its readers break.`, {
          next: `Next: svc check, change the code, then svc lock ${shellWord(change.stack)}`,
        })
      }
      if (!isRead) break
      await context.taken()
    }
    return undefined
  })
}
