import { prefixKind } from "@svc/keys"
import type { Context } from "../command.ts"
import { CliError, onCode } from "../errors.ts"
import type { Api } from "../services/api.ts"
import { isSafeForKeys, requireSafeForKeys } from "./api-url.ts"
import { readCredentials } from "./credentials.ts"
import { environmentApiUrl, serviceUrl, variable } from "./settings.ts"

export type ApiWithKey = Api & { readonly key: string }

// The beginning of every key, and what a header may contain. Only the API knows whether it's a valid key.
const keyText = /^svc_[\x21-\x7e]+$/

type Owner = "agent" | "person"

/** The entry of a key in the credentials file. A person's key stands beside the agent's; no API URL has a fragment. */
export const entryOf = (url: string, owner: Owner): string => (owner === "agent" ? url : `${url}#person`)

export const ownerOf = (key: string): Owner => (prefixKind(key) === "sk" ? "person" : "agent")

type Keys = Partial<Readonly<Record<Owner, string>>>

/** Whether the environment has the key for this API URL. */
export const isFromEnvironment = (context: Context, url: string): boolean =>
  variable(context.env, "SVC_API_KEY") !== undefined && environmentApiUrl(context) === url

/** The keys for this API URL only: the environment's if it belongs to this URL, else the stored ones. */
export const keysFor = async (context: Context, url: string): Promise<Keys> => {
  const key = variable(context.env, "SVC_API_KEY")
  if (key !== undefined) {
    if (isFromEnvironment(context, url)) {
      if (keyText.test(key)) return { [ownerOf(key)]: key }
      throw new CliError("invalid-api-key", "SVC_API_KEY isn't a key.", {
        next: "Next: unset SVC_API_KEY, or set it to a key (svc_ak_…) without quotes",
      })
    }
    const home = environmentApiUrl(context)
    context.note(`SVC_API_KEY belongs to ${home}, so it isn't sent to ${url}. To use it there, set SVC_API_URL too.`)
  }
  const credentials = await readCredentials(context.folder)
  const stored = (["agent", "person"] as const).flatMap((owner) => {
    const entry = credentials[entryOf(url, owner)]
    return entry === undefined ? [] : [[owner, entry.api_key] as const]
  })
  return Object.fromEntries(stored)
}

// Their steps log in or sign up, which changes nothing while the environment's key is in use.
const rejections: ReadonlySet<string> = new Set([
  "invalid-authorization-format",
  "invalid-api-key",
  "disabled-api-key",
  "expired-api-key",
  "agent-account-required",
  "secret-key-required",
  "origin-required",
])

const otherKeyStep = "The key is that of SVC_API_KEY. Next: unset it to use the stored key, or set it to another key"

/** The next step if the API rejected the environment's key; undefined for another error or key. */
export const environmentKeyStep = async (context: Context, code: string): Promise<string | undefined> =>
  rejections.has(code) && isFromEnvironment(context, await apiUrl(context)) ? otherKeyStep : undefined

export const apiUrl = (context: Context): Promise<string> => serviceUrl("api", context)

/** The API with the agent's key for its URL, else with the person's. */
export const apiWithKey = async (context: Context): Promise<ApiWithKey> => {
  const url = await apiUrl(context)
  const { agent, person } = await keysFor(context, url)
  const key = agent ?? person
  if (key === undefined) throw new CliError("missing-credentials", `No key is stored for ${url}.`)
  requireSafeForKeys(url)
  return { url, key, env: context.env }
}

/** The API with a person's key, which all writes need. */
export const apiOfOwner = async (context: Context): Promise<ApiWithKey> => {
  const url = await apiUrl(context)
  const { person } = await keysFor(context, url)
  if (person === undefined) {
    const problem = "This needs a person's key (svc_sk_)"
    if (isFromEnvironment(context, url)) {
      throw new CliError("missing-credentials", `${problem}.`, { next: otherKeyStep })
    }
    throw new CliError("missing-credentials", `${problem}, and none is stored for ${url}.`, {
      next: "Next: ask the operator for one, then svc auth login < KEY-FILE",
    })
  }
  requireSafeForKeys(url)
  return { url, key: person, env: context.env }
}

/** The API for what needs no key; with the person's key, else the agent's, if there is one that may be sent there. */
export const apiForReading = async (context: Context): Promise<Api> => {
  const url = await apiUrl(context)
  let isNoted = false
  const onResponse: Api["onResponse"] = ({ header }) => {
    const code = header("x-auth-ignored")
    if (code === null || isNoted) return
    isNoted = true
    context.note(`The API didn't accept your key (${code}), so only public stacks are shown. Next: svc auth status`)
  }
  const api = { url, env: context.env, onResponse }
  if (!isSafeForKeys(url)) return api
  const { person, agent } = await keysFor(context, url).catch(
    // A broken file shouldn't hide what is public.
    onCode(undefined, ({ message }): Keys => {
      context.note(`${message} Continuing without a key.`)
      return {}
    }),
  )
  const key = person ?? agent
  return key === undefined ? api : { ...api, key }
}

/** Warns that the stored key, which has just changed, isn't the one in use. */
export const noteEnvironmentKey = (context: Context): void => {
  if (variable(context.env, "SVC_API_KEY") === undefined) return
  context.note("SVC_API_KEY is set, and svc uses it instead of the stored key.")
}
