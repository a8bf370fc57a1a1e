import type { Keys, MintedKey, NewKey, Platform, RotatedKey } from "@svc/client"
import { keyHint } from "@svc/keys"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode, usageError } from "../errors.ts"
import { labelled, type Labels } from "../output/labelled.ts"
import { pairs, table } from "../output/table.ts"
import { platformOf, readPages } from "../services/api.ts"
import { changeCredentials, credentialsFile, type OpenCredentials, readCredentials } from "../settings/credentials.ts"
import { type ApiWithKey, apiWithKey, isFromEnvironment, noteEnvironmentKey, ownerOf } from "../settings/key.ts"
import { despiteSignals } from "../until-stopped.ts"

const columns = {
  id: "ID",
  name: "NAME",
  key_class: "CLASS",
  key_hint: "KEY",
  status: "STATUS",
  origin_allowlist: "ORIGIN",
  expires_at: "EXPIRES",
  last_used_at: "LAST USED",
  // Shown beside the status.
  current: undefined,
  replaced_by: undefined,
  created_at: undefined,
} as const satisfies Labels<Keys[number]>

export const readKeys = (api: ApiWithKey) => readPages(api, ({ keys }, page) => keys.list(page))

/** `svc keys list`: every key of this agent, never the keys themselves. */
export const listKeys = async (context: Context): Promise<Outcome> => {
  const keys = await readKeys(await apiWithKey(context))
  const rows = keys.map((key) => {
    const shown = { ...key, expires_at: key.expires_at ?? "never", last_used_at: key.last_used_at ?? "never" }
    // A replaced key works until it expires, but can't manage keys.
    const status = key.replaced_by === undefined ? key.status : `${key.status}, replaced by ${key.replaced_by}`
    return labelled(shown, columns).map(([column, value]) =>
      column === "STATUS" ? `${status}${key.current ? " (this one)" : ""}` : value,
    )
  })
  const heading = Object.values(columns).filter((column) => column !== undefined)
  return { json: keys, text: (style) => table(heading, rows, style) }
}

/** `svc keys disable ID`: the key is rejected until another key of the account enables it. */
export const disableKey = (context: Context): Promise<Outcome> => switchKey(context, "disable")

/** `svc keys enable ID`: a key that its owner disabled works again. */
export const enableKey = (context: Context): Promise<Outcome> => switchKey(context, "enable")

const switchKey = async (context: Context, verb: "disable" | "enable"): Promise<Outcome> => {
  const id = idOf(context)
  const key = await platformOf(await apiWithKey(context)).keys[verb](id)
  if (verb === "disable" && key.current) {
    context.note("That is the key in use. Only another key of the account, or the operator, can enable it.")
  }
  return { json: key, text: () => `Key ${key.id} is ${key.status}.` }
}

/** `svc keys revoke ID`: the key is rejected from the next request on. */
export const revokeKey = async (context: Context): Promise<Outcome> => {
  const id = idOf(context)
  const revoked = await platformOf(await apiWithKey(context)).keys.revoke(id)
  const { remaining_secret_keys: left } = revoked
  if (left === 0) context.note("That was the last secret key. Next: svc auth signup --force registers a new agent")
  return { json: revoked, text: () => `Key ${revoked.id} is revoked. Secret keys left: ${left}` }
}

const idOf = ({ args: [id = ""] }: Context): number => {
  if (!/^\d{1,15}$/.test(id)) throw usageError("ID must be the number of a key, as svc keys list shows it.")
  return Number(id)
}

const labels = {
  id: "Id",
  name: "Name",
  key_class: "Class",
  key: "Key",
  origin_allowlist: "Origin",
  expires_at: "Expires",
  replaces: "Replaces",
  old_expires_at: "Old key ends",
  message: undefined,
} as const satisfies Labels<RotatedKey>

type NewKeys = MintedKey & Partial<RotatedKey>

type Stored = Omit<NewKeys, "key" | "message"> & { readonly key_hint: string }

const minted = <Json>(answer: NewKeys, shown: string, json: Json): Outcome<Json> => ({
  json,
  text: (style) =>
    pairs(labelled({ ...answer, key: shown, expires_at: answer.expires_at ?? "never" } as RotatedKey, labels), style),
})

/** `revokes`: the old key, which ends once the new one is stored. */
type Minted = { readonly answer: NewKeys; readonly api: ApiWithKey; readonly revokes?: number | undefined }

const withKey = async (api: ApiWithKey, make: (keys: Platform["keys"]) => Promise<NewKeys>): Promise<Minted> => {
  const answer = await make(platformOf(api).keys)
  if (!answer.key) throw new CliError("unexpected-answer", `The response of ${api.url} has no key.`)
  return { answer, api }
}

/** Prints a key that nobody can get again. */
const show = (context: Context, { answer }: Minted): Outcome<NewKeys> => {
  context.note("The key is shown only now. Store it.")
  const { id, key, replaces } = answer
  const next =
    replaces === undefined
      ? `svc keys revoke ${id}`
      : `svc keys rotate ${replaces} again; it revokes a new key that nobody has used`
  return { ...minted(answer, key, answer), lasting: `Key ${id} works, but nobody has seen it. Next: ${next}` }
}

/** Stores the key that `make` returns instead of the current one. That it can be stored is tested before `make` runs. */
const store = async (context: Context, make: () => Promise<Minted>, then: string): Promise<Outcome<Stored>> => {
  let stored: Omit<Minted, "answer"> | undefined
  const replace = async ({ credentials, save }: OpenCredentials): Promise<Outcome<Stored>> => {
    const { answer, api, revokes } = await make()
    const { key, message: _message, ...rest } = answer
    const old = credentials[api.url]
    // The key that called may come from the environment and belong to another agent than the stored one.
    const isSameAgent = old?.api_key === api.key
    const entry = { ...(isSameAgent ? old : {}), api_key: key }
    const backup = old !== undefined && !isSameAgent
    const failure = (what: string): CliError => {
      const message = `The key was created, but ${what}. The key is on stdout, only now: store it.`
      return new CliError("key-not-saved", message, { extra: answer, rescued: key })
    }
    const copy = await save({ ...credentials, [api.url]: entry }, failure, backup)
    if (copy !== undefined) context.note(`The old credentials are in ${copy}.`)
    context.note(`The key is stored in ${credentialsFile(context.folder)}. ${then}`)
    noteEnvironmentKey(context)
    stored = { api: { ...api, key }, revokes }
    return minted(answer, keyHint(key), { ...rest, key_hint: keyHint(key) })
  }
  const outcome = await changeCredentials(context.folder, (open) => despiteSignals(context, () => replace(open)))
  // A replaced key can revoke its successor until that has been used.
  if (stored !== undefined) {
    const { api, revokes } = stored
    const { keys } = platformOf(api)
    await (revokes === undefined ? keys.list({ limit: 1 }) : keys.revoke(revokes)).catch(
      onCode(undefined, ({ message }) => {
        const next = revokes === undefined ? "" : ` The old key still works. Next: svc keys revoke ${revokes}`
        context.note(`The new key couldn't be used yet: ${message}${next}`)
      }),
    )
  }
  return outcome
}

const requestOf = ({ options: { name, "expires-in-days": days } }: Context): NewKey => ({
  ...(name !== undefined && { name }),
  ...(days !== undefined && { expires_in_days: Number(days) }),
})

/** `svc keys mint [--save]`: another secret key; with `--save` it replaces the stored one, and isn't printed. */
export const mintKey = async (context: Context): Promise<Outcome> => {
  const mint = async () => withKey(await apiWithKey(context), (keys) => keys.mint(requestOf(context)))
  if (!context.flags.has("save")) return show(context, await mint())
  return store(context, mint, "The old key stays valid. Next: svc keys list, then svc keys revoke ID")
}

/** `svc keys publishable --origin O`: a key for the pages of that origin. */
export const mintPublishableKey = async (context: Context): Promise<Outcome> => {
  const { origin } = context.options
  if (origin === undefined) {
    throw usageError("--origin ORIGIN is missing: the only origin that may use the key.")
  }
  const body = { ...requestOf(context), origin_allowlist: [origin] as const }
  return show(context, await withKey(await apiWithKey(context), (keys) => keys.mintPublishable(body)))
}

const unitSeconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 }
export const longestOverlap = 604_800

const overlapOf = ({ options: { overlap } }: Context): number | undefined => {
  if (overlap === undefined) return undefined
  const [, number = "", unit = ""] = /^(\d{1,6})([smhd]?)$/.exec(overlap) ?? []
  const seconds = number === "" ? Infinity : Number(number) * (unitSeconds[unit] ?? Infinity)
  if (seconds <= longestOverlap) return seconds
  throw usageError("--overlap takes seconds, or 10m, 1h, 7d; at most a week.")
}

const currentId = async (api: ApiWithKey): Promise<number> => {
  const current = (await readKeys(api)).find((key) => key.current)
  if (current === undefined) throw new CliError("unexpected-answer", `The response of ${api.url} lists no current key.`)
  return current.id
}

/**
 * `svc keys rotate [ID] [--overlap O] [--save]`: a new key instead of another one, which ends after the overlap. Without ID it
 * replaces the key in use, and the new key is stored.
 */
export const rotateKey = async (context: Context): Promise<Outcome<NewKeys | Stored>> => {
  const id = context.args[0] === undefined ? undefined : idOf(context)
  const { name } = context.options
  const overlap = overlapOf(context)
  const api = await apiWithKey(context)
  const isSaved = context.flags.has("save")
  if (isSaved && id !== undefined) {
    if ((await readKeys(api)).find((one) => one.id === id)?.key_class === "publishable") {
      throw usageError(`Key ${id} is publishable: it only works in browsers, so --save can't store it.`)
    }
  }
  // The file may have changed since the key was read from it: another process rotates too.
  const isStored = isFromEnvironment(context, api.url)
    ? (await readCredentials(context.folder))[api.url]?.api_key === api.key
    : ownerOf(api.key) === "agent"
  const stores = isSaved || (id === undefined && isStored)
  // A key that ended with the rotation would be lost with its response: it ends after the new one is stored.
  const revokesOld = stores && overlap === 0
  const body = {
    ...(name !== undefined && { name }),
    ...(overlap !== undefined && !revokesOld && { overlap_seconds: overlap }),
  }
  const rotate = async (): Promise<Minted> => {
    // Read again: while this process waited for the credentials file, another one may have replaced the key or forgotten it.
    const now = await apiWithKey(context)
    const rotated = id ?? (await currentId(now))
    const successor = await withKey(now, (keys) => keys.rotate(rotated, body)).catch(
      onCode(undefined, (error): never => {
        if (!["unreachable", "outcome-unknown", "unexpected-answer"].includes(error.code)) throw error
        const next = `Next: svc keys rotate ${rotated} again; it revokes a new key that nobody has used`
        const unknown = "The key may have been replaced; rotating it again revokes a new key that nobody has used."
        throw new CliError(error.code, `${error.message} ${unknown}`, { next, cause: error.cause })
      }),
    )
    if (!revokesOld) return successor
    const { old_expires_at: _end, ...answer } = successor.answer
    return { ...successor, answer, revokes: rotated }
  }
  if (stores) {
    const until = revokesOld ? "is being revoked" : "works until the overlap ends"
    return store(context, rotate, `The old key ${until}. Next: svc keys list`)
  }
  return show(context, await rotate())
}
