import { keyHint } from "@svc/keys"
import { callApi, jsonOf, readPages, type Api } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { changeCredentials, credentialsFile, readCredentials, type Credential } from "../settings/credentials.ts"
import { CliError, systemReason, usageError } from "../errors.ts"
import { isObject } from "@svc/common/json-object"
import { listOf, textOf } from "../output/json-value.ts"
import { apiWithKey, noteEnvironmentKey } from "../settings/key.ts"
import { pairs, table } from "../output/table.ts"

const path = "/api/agents/me/keys"

/** `svc keys list`: every key of this agent, never the keys themselves. */
export const listKeys = async (context: Context): Promise<Outcome> => {
  const keys = await readPages(await apiWithKey(context), path, "limit=100")
  const rows = keys.map((key) => [
    textOf(key, "id"),
    textOf(key, "name"),
    textOf(key, "key_class"),
    textOf(key, "key_hint"),
    textOf(key, "status") + (textOf(key, "current") === "true" ? " (this one)" : ""),
    listOf(key, "origin_allowlist").join(" "),
    textOf(key, "expires_at") || "never",
    textOf(key, "last_used_at") || "never",
  ])
  const heading = ["ID", "NAME", "CLASS", "KEY", "STATUS", "ORIGIN", "EXPIRES", "LAST USED"]
  return { json: keys, text: table(heading, rows, context.bold) }
}

const requestOf = (context: Context, command: string): Record<string, unknown> => {
  const { name, "expires-in-days": days } = context.options
  if (days !== undefined && !/^\d{1,9}$/.test(days))
    throw usageError("--expires-in-days takes a whole number.", command)
  return {
    ...(name === undefined ? {} : { name }),
    ...(days === undefined ? {} : { expires_in_days: Number(days) }),
  }
}

const minted = (answer: unknown, shown: string): Outcome => ({
  json: answer,
  text: pairs([
    ["Id", textOf(answer, "id")],
    ["Name", textOf(answer, "name")],
    ["Class", textOf(answer, "key_class")],
    ["Key", shown],
    ["Origin", listOf(answer, "origin_allowlist").join(" ")],
    ["Expires", textOf(answer, "expires_at") || "never"],
    ["Replaces", textOf(answer, "replaces")],
    ["Old key ends", textOf(answer, "old_expires_at")],
  ]),
})

const shownOnce = "The key is shown this once and cannot be had again."

type Minted = { readonly answer: unknown; readonly key: string; readonly api: Api & { readonly key: string } }

const postForKey = async (api: Minted["api"], at: string, body: object): Promise<Minted> => {
  const answer = jsonOf(await callApi(api, at, { method: "POST", body }), api.url)
  const key = textOf(answer, "key")
  if (key === "") throw new CliError("unexpected-answer", `${api.url} answered without a key.`)
  return { answer, key, api }
}

const mint = async (context: Context): Promise<Minted> =>
  postForKey(await apiWithKey(context), path, requestOf(context, "keys mint"))

/** Keeps the key that `make` gives in place of the kept one; that it can be kept is proven before. */
const keep = (context: Context, make: () => Promise<Minted>, then: string): Promise<Outcome> =>
  changeCredentials(context.folder, async ({ credentials, save }) => {
    const { answer, key, api } = await make()
    const old = credentials[api.url]
    // The key that called may have come from the environment and be another agent's than the kept one.
    const sameAgent = old?.api_key === api.key
    const entry: Credential = { ...(sameAgent ? old : {}), api_key: key }
    const backup = old !== undefined && !sameAgent
    const copy = await save({ ...credentials, [api.url]: entry }, { backup }).catch((error: unknown) => {
      const file = credentialsFile(context.folder)
      const message = `The key was made, but ${file} was not written (${systemReason(error)}). The key is on the standard output, this once: keep it.`
      throw new CliError("key-not-saved", message, { extra: isObject(answer) ? answer : {}, rescued: key })
    })
    if (copy !== undefined) context.note(`The old credentials are kept in ${copy}.`)
    context.note(`The key is kept in ${credentialsFile(context.folder)}. ${then}`)
    noteEnvironmentKey(context)
    return minted(answer, keyHint(key))
  })

/** `svc keys mint [--save]`: a further secret key; with `--save` it takes the place of the kept one, and is not shown. */
export const mintKey = async (context: Context): Promise<Outcome> => {
  if (context.flags.has("save")) {
    return keep(context, () => mint(context), "The one before stays valid: svc keys list, svc keys revoke ID")
  }
  const { answer, key } = await mint(context)
  context.note(shownOnce)
  return minted(answer, key)
}

const unitSeconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 }

const overlapOf = (context: Context): { readonly overlap_seconds?: number } => {
  const { overlap } = context.options
  if (overlap === undefined) return {}
  const [, number = "", unit = ""] = /^(\d{1,6})([smhd]?)$/.exec(overlap) ?? []
  const seconds = number === "" ? Infinity : Number(number) * (unitSeconds[unit] ?? Infinity)
  if (seconds > 604_800) throw usageError("--overlap takes seconds, or 10m, 1h, 7d; a week at most.", "keys rotate")
  return { overlap_seconds: seconds }
}

/** The id of the key in use. */
const currentId = async (api: Minted["api"]): Promise<string> => {
  const keys = await readPages(api, path, "limit=100")
  const current = keys.find((key) => textOf(key, "current") === "true")
  if (current === undefined) throw new CliError("unexpected-answer", `${api.url} lists no current key.`)
  return textOf(current, "id")
}

/**
 * `svc keys rotate [ID] [--overlap O] [--save]`: a successor for a key, which ends when the overlap is over. Without ID it is
 * the key in use, whose successor is kept where the key was.
 */
export const rotateKey = async (context: Context): Promise<Outcome> => {
  const [id] = context.args
  if (id !== undefined && !/^\d+$/.test(id)) {
    throw usageError("ID is the number of a key: svc keys list.", "keys rotate")
  }
  const { name } = context.options
  const body = { ...(name === undefined ? {} : { name }), ...overlapOf(context) }
  const api = await apiWithKey(context)
  const rotate = async (): Promise<Minted> => {
    const rotated = id ?? (await currentId(api))
    return postForKey(api, `${path}/${rotated}/rotate`, body).catch((error: unknown) => {
      if (!(error instanceof CliError) || !["unreachable", "outcome-unknown"].includes(error.code)) throw error
      const next = `Next: svc keys rotate ${rotated}, the same again: a successor that nobody has used is revoked then`
      throw new CliError(error.code, error.message, { next })
    })
  }
  const kept = (await readCredentials(context.folder))[api.url]?.api_key
  if (context.flags.has("save") || (id === undefined && kept === api.key)) {
    return keep(context, rotate, "The one before ends when the overlap is over: svc keys list")
  }
  const { answer, key } = await rotate()
  context.note(shownOnce)
  return minted(answer, key)
}

/** `svc keys publishable --origin O`: a key for pages of that one origin. */
export const mintPublishableKey = async (context: Context): Promise<Outcome> => {
  const { origin } = context.options
  if (origin === undefined)
    throw usageError("--origin is missing: the one origin that the key works on.", "keys publishable")
  const body = { ...requestOf(context, "keys publishable"), origin_allowlist: [origin] }
  const api = await apiWithKey(context)
  const answer = jsonOf(await callApi(api, `${path}/publishable`, { method: "POST", body }), api.url)
  context.note(shownOnce)
  return minted(answer, textOf(answer, "key"))
}

/** `svc keys revoke ID`: the key is refused from the next request on. */
export const revokeKey = async (context: Context): Promise<Outcome> => {
  const [id = ""] = context.args
  if (!/^\d+$/.test(id)) throw usageError("ID is the number of a key: svc keys list.", "keys revoke")
  const api = await apiWithKey(context)
  const answer = jsonOf(await callApi(api, `${path}/${id}`, { method: "DELETE" }), api.url)
  const left = textOf(answer, "remaining_secret_keys")
  if (left === "0") context.note("That was the last secret key. Next: svc auth signup --force registers a new agent")
  return { json: answer, text: `Key ${textOf(answer, "id")} is revoked. Secret keys left: ${left}` }
}
