import type { Api } from "../services/api.ts"
import { isSafeForKeys, requireSafeForKeys } from "./api-url.ts"
import type { Context } from "../context.ts"
import { readCredentials } from "./credentials.ts"
import { CliError } from "../errors.ts"
import { environmentApiUrl, serviceUrl, variable } from "./settings.ts"

// What may stand in a header. Whether it is a key that counts only the API can say.
const headerText = /^[\x21-\x7e]+$/

/** Whose keys count, the first that is kept. */
type Owner = "agent" | "person"

/** Where a person's key is kept, beside the agent's of the same API URL; no API URL has a fragment. */
export const entryOf = (url: string, owner: Owner): string => (owner === "agent" ? url : `${url}#person`)

/** Whose key it is, by its prefix. */
export const ownerOf = (key: string): Owner => (key.startsWith("svc_sk_") ? "person" : "agent")

type Keys = Partial<Readonly<Record<Owner, string>>>

/** The keys for an API URL and nothing but this URL: the environment's if it belongs there, else the kept ones. */
export const keysFor = async (context: Context, url: string): Promise<Keys> => {
  const key = variable(context.env, "SVC_API_KEY")
  if (key !== undefined) {
    const home = environmentApiUrl(context.env)
    if (home === url) {
      if (headerText.test(key)) return { [ownerOf(key)]: key }
      throw new CliError("invalid-api-key", "SVC_API_KEY does not hold a key.", {
        next: "Next: unset SVC_API_KEY or set it to a key (svc_ak_…)",
      })
    }
    context.note(`SVC_API_KEY belongs to ${home} and is not sent to ${url}; set SVC_API_URL for both.`)
  }
  const credentials = await readCredentials(context.folder)
  const kept = (["agent", "person"] as const).flatMap((owner) => {
    const entry = credentials[entryOf(url, owner)]
    return entry === undefined ? [] : [[owner, entry.api_key] as const]
  })
  return Object.fromEntries(kept)
}

export const apiUrl = (context: Context): Promise<string> =>
  serviceUrl("api", context.options, context.env, context.folder)

/** The API with the agent's key that its URL is entitled to; a person's where there is no other. */
export const apiWithKey = async (context: Context): Promise<Api & { readonly key: string }> => {
  const url = await apiUrl(context)
  const { agent, person } = await keysFor(context, url)
  const key = agent ?? person
  if (key === undefined) throw new CliError("missing-credentials", `No key is kept for ${url}.`)
  requireSafeForKeys(url)
  return { url, key }
}

/** The API with a person's key: what is written is a person's. */
export const apiOfOwner = async (context: Context): Promise<Api & { readonly key: string }> => {
  const url = await apiUrl(context)
  const { person } = await keysFor(context, url)
  if (person === undefined) {
    throw new CliError("missing-credentials", `This needs a person's key (svc_sk_), and none is kept for ${url}.`, {
      next: "Next: svc auth login < FILE-WITH-A-PERSONS-KEY; the operator gives one",
    })
  }
  requireSafeForKeys(url)
  return { url, key: person }
}

/** The API for what can be read without a key; with one, a person's first, where there is one that may travel there. */
export const apiForReading = async (context: Context): Promise<Api> => {
  const url = await apiUrl(context)
  const keys: Keys = isSafeForKeys(url)
    ? await keysFor(context, url).catch((error: unknown) => {
        // What is open to everybody stays so beside a broken file.
        if (!(error instanceof CliError)) throw error
        context.note(`${error.message} Going on without a key.`)
        return {}
      })
    : {}
  const key = keys.person ?? keys.agent
  return key === undefined ? { url } : { url, key }
}

/** Tells who has just changed the kept key that another one is used. */
export const noteEnvironmentKey = (context: Context): void => {
  if (variable(context.env, "SVC_API_KEY") !== undefined) {
    context.note("SVC_API_KEY is set and goes before the kept key.")
  }
}
