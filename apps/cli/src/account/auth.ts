import { keyHint } from "@svc/keys"
import { callApi, jsonOf, type Api } from "../services/api.ts"
import { requireSafeForKeys } from "../settings/api-url.ts"
import type { Context, Outcome } from "../context.ts"
import { changeCredentials, credentialsFile, readCredentials, type Credential } from "../settings/credentials.ts"
import { CliError, systemReason } from "../errors.ts"
import { isObject } from "@svc/common/json-object"
import { textOf } from "../output/json-value.ts"
import { apiUrl, apiWithKey, entryOf, keysFor, noteEnvironmentKey, ownerOf } from "../settings/key.ts"
import { pairs } from "../output/table.ts"

type Identity = {
  slug: string | null
  display_name: string | null
  status: string
  api_url: string
  key_hint: string | null
}

const outcome = (identity: Identity): Outcome => ({
  json: identity,
  text: pairs([
    ["Agent", identity.slug ?? ""],
    ["Name", identity.display_name ?? ""],
    ["Status", identity.status],
    ["API", identity.api_url],
    ["Key", identity.key_hint ?? ""],
  ]),
})

const profileOf = async (api: Api & { readonly key: string }): Promise<Identity> => {
  const profile = jsonOf(await callApi(api, "/api/agents/me"), api.url)
  return {
    slug: textOf(profile, "slug"),
    display_name: textOf(profile, "display_name"),
    status: textOf(profile, "status"),
    api_url: api.url,
    key_hint: keyHint(api.key),
  }
}

/** A person, of whom the API tells no name: that the key counts is all. */
const personOf = async (api: Api & { readonly key: string }): Promise<Identity> => {
  await callApi(api, "/api/auth/keys?limit=1")
  return { ...nobody(api.url), status: "active", key_hint: keyHint(api.key) }
}

const nobody = (url: string): Identity => ({
  slug: null,
  display_name: null,
  status: "signed-out",
  api_url: url,
  key_hint: null,
})

/** `svc auth status`: who the keys belong to; fails when there is none, or none that counts. */
export const authStatus = async (context: Context): Promise<Outcome> => {
  const url = await apiUrl(context)
  const { agent, person } = await keysFor(context, url)
  if (person === undefined) return outcome(await profileOf(await apiWithKey(context)))
  requireSafeForKeys(url)
  const owner = await personOf({ url, key: person })
  const identity = agent === undefined ? { ...owner, key_hint: null } : await profileOf({ url, key: agent })
  const { json, text } = outcome(identity)
  const also = { person: { key_hint: owner.key_hint } }
  return {
    json: { ...(isObject(json) ? json : {}), ...also },
    text: `${text}\n${pairs([["Person", owner.key_hint ?? ""]])}`,
  }
}

/** `svc auth login`: keeps a key read from the standard input, after the API has known it. */
export const authLogin = async (context: Context): Promise<Outcome> => {
  const url = await apiUrl(context)
  requireSafeForKeys(url)
  const key = await context.readLine()
  if (!/^svc_(ak|sk|pk)_[0-9A-Za-z]+$/.test(key)) {
    throw new CliError(
      "invalid-api-key",
      "What came on the standard input is not a key (svc_ak_ and 38 letters and digits).",
      {
        next: "Next: svc auth login < FILE-WITH-THE-KEY",
      },
    )
  }
  return changeCredentials(context.folder, async ({ credentials, save }) => {
    const owner = ownerOf(key)
    const place = entryOf(url, owner)
    const identity = await (owner === "agent" ? profileOf : personOf)({ url, key })
    const { slug, display_name } = identity
    const other = credentials[place] !== undefined && credentials[place].api_key !== key
    const entry: Credential = { api_key: key, slug: slug ?? "", display_name: display_name ?? "" }
    const backup = await save({ ...credentials, [place]: entry }, { backup: other }).catch((error: unknown) => {
      throw new CliError(
        "key-not-saved",
        `${credentialsFile(context.folder)} was not written (${systemReason(error)}).`,
      )
    })
    if (backup !== undefined) context.note(`Another key was kept before; the old file is ${backup}.`)
    noteEnvironmentKey(context)
    return outcome(identity)
  })
}

/** `svc auth signup`: registers an agent and keeps its key, which is shown to nobody. */
export const authSignup = async (context: Context): Promise<Outcome> => {
  const url = await apiUrl(context)
  // The key comes back on the same way.
  requireSafeForKeys(url)
  return changeCredentials(context.folder, async ({ credentials, save }) => {
    const old = credentials[url]
    if (old !== undefined && !context.flags.has("force")) {
      const who = old.slug === undefined || old.slug === "" ? "an agent" : old.slug
      throw new CliError("already-signed-up", `A key of ${who} is kept for ${url}.`)
    }
    const name = context.options["name"]
    const body = name === undefined ? {} : { display_name: name }
    const answer = jsonOf(await callApi({ url }, "/api/agents/signup", { method: "POST", body }), url)
    const [key, slug, display_name] = [
      textOf(answer, "api_key"),
      textOf(answer, "slug"),
      textOf(answer, "display_name"),
    ]
    if (key === "") throw new CliError("unexpected-answer", `${url} answered the sign-up without a key.`)
    const identity: Identity = { slug, display_name, status: "active", api_url: url, key_hint: keyHint(key) }
    const entry: Credential = { api_key: key, slug, display_name }
    const backup = await save({ ...credentials, [url]: entry }, { backup: old !== undefined }).catch(
      (error: unknown) => {
        const file = credentialsFile(context.folder)
        const message = `${slug} is registered, but ${file} was not written (${systemReason(error)}). Its key is on the standard output, this once: keep it.`
        throw new CliError("key-not-saved", message, { extra: { ...identity, api_key: key }, rescued: key })
      },
    )
    if (backup !== undefined) context.note(`The old credentials are kept in ${backup}.`)
    noteEnvironmentKey(context)
    context.note(`The key is kept in ${credentialsFile(context.folder)}.`)
    return outcome(identity)
  })
}

/** `svc auth logout`: forgets the kept keys of this API URL, the person's too; the API is not asked, the key stays valid. */
export const authLogout = async (context: Context): Promise<Outcome> => {
  const url = await apiUrl(context)
  const gone = (old: Credential | undefined): Outcome => {
    if (old === undefined) context.note(`No key was kept for ${url}.`)
    noteEnvironmentKey(context)
    return outcome({
      slug: old?.slug ?? null,
      display_name: old?.display_name ?? null,
      status: "signed-out",
      api_url: url,
      key_hint: old === undefined ? null : keyHint(old.api_key),
    })
  }
  const place = entryOf(url, "person")
  const before = await readCredentials(context.folder)
  if (before[url] === undefined && before[place] === undefined) return gone(undefined)
  return changeCredentials(context.folder, async ({ credentials, save }) => {
    const { [url]: agent, [place]: person, ...rest } = credentials
    const old = agent ?? person
    await save(rest).catch((error: unknown) => {
      throw new CliError(
        "credentials-unwritable",
        `${credentialsFile(context.folder)} was not written (${systemReason(error)}).`,
      )
    })
    return gone(old)
  })
}
