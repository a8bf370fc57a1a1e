import { keyHint } from "@svc/keys"
import { callApi, jsonOf, readPages, type Api } from "./api.ts"
import type { Context, Outcome } from "./context.ts"
import { changeCredentials, credentialsFile, type Credential } from "./credentials.ts"
import { CliError, systemReason, usageError } from "./errors.ts"
import { isObject, listOf, textOf } from "./json-value.ts"
import { apiWithKey, noteEnvironmentKey } from "./key.ts"
import { pairs, table } from "./table.ts"

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
  ]),
})

const shownOnce = "The key is shown this once and cannot be had again."

type Minted = { readonly answer: unknown; readonly key: string; readonly api: Api & { readonly key: string } }

const mint = async (context: Context): Promise<Minted> => {
  const api = await apiWithKey(context)
  const answer = jsonOf(await callApi(api, path, { method: "POST", body: requestOf(context, "keys mint") }), api.url)
  const key = textOf(answer, "key")
  if (key === "") throw new CliError("unexpected-answer", `${api.url} answered without a key.`)
  return { answer, key, api }
}

/** `svc keys mint [--save]`: a further secret key; with `--save` it takes the place of the kept one, and is not shown. */
export const mintKey = async (context: Context): Promise<Outcome> => {
  if (!context.flags.has("save")) {
    const { answer, key } = await mint(context)
    context.note(shownOnce)
    return minted(answer, key)
  }
  return changeCredentials(context.folder, async ({ credentials, save }) => {
    const { answer, key, api } = await mint(context)
    const old = credentials[api.url]
    // The key that minted may have come from the environment and be another agent's than the kept one.
    const sameAgent = old?.api_key === api.key
    const entry: Credential = { ...(sameAgent ? old : {}), api_key: key }
    const backup = old !== undefined && !sameAgent
    const copy = await save({ ...credentials, [api.url]: entry }, { backup }).catch((error: unknown) => {
      const file = credentialsFile(context.folder)
      const message = `The key was minted, but ${file} was not written (${systemReason(error)}). The key is on the standard output, this once: keep it.`
      throw new CliError("key-not-saved", message, { extra: isObject(answer) ? answer : {}, rescued: key })
    })
    if (copy !== undefined) context.note(`The old credentials are kept in ${copy}.`)
    context.note(
      `The key is kept in ${credentialsFile(context.folder)}. The one before stays valid: svc keys list, svc keys revoke ID`,
    )
    noteEnvironmentKey(context)
    return minted(answer, keyHint(key))
  })
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
