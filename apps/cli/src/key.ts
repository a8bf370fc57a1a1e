import type { Api } from "./api.ts"
import { isSafeForKeys, requireSafeForKeys } from "./api-url.ts"
import type { Context } from "./context.ts"
import { readCredentials } from "./credentials.ts"
import { CliError } from "./errors.ts"
import { environmentApiUrl, serviceUrl, variable } from "./settings.ts"

// What may stand in a header. Whether it is a key that counts only the API can say.
const headerText = /^[\x21-\x7e]+$/

/** The key for an API URL and nothing but this URL: the environment's if it belongs there, else the kept one. */
const keyFor = async (context: Context, url: string): Promise<string | undefined> => {
  const key = variable(context.env, "SVC_API_KEY")
  if (key !== undefined) {
    const home = environmentApiUrl(context.env)
    if (home === url) {
      if (headerText.test(key)) return key
      throw new CliError("invalid-api-key", "SVC_API_KEY does not hold a key.", {
        next: "Next: unset SVC_API_KEY or set it to a key (svc_ak_…)",
      })
    }
    context.note(`SVC_API_KEY belongs to ${home} and is not sent to ${url}; set SVC_API_URL for both.`)
  }
  const credentials = await readCredentials(context.folder)
  return credentials[url]?.api_key
}

export const apiUrl = (context: Context): Promise<string> =>
  serviceUrl("api", context.options, context.env, context.folder)

/** The API with the key that its URL is entitled to. */
export const apiWithKey = async (context: Context): Promise<Api & { readonly key: string }> => {
  const url = await apiUrl(context)
  const key = await keyFor(context, url)
  if (key === undefined) throw new CliError("missing-credentials", `No key is kept for ${url}.`)
  requireSafeForKeys(url)
  return { url, key }
}

/** The API for what can be read without a key; with one where there is one that may travel there. */
export const apiForReading = async (context: Context): Promise<Api> => {
  const url = await apiUrl(context)
  const key = isSafeForKeys(url)
    ? await keyFor(context, url).catch((error: unknown) => {
        // What is open to everybody stays so beside a broken file.
        if (!(error instanceof CliError)) throw error
        context.note(`${error.message} Going on without a key.`)
        return undefined
      })
    : undefined
  return key === undefined ? { url } : { url, key }
}

/** Tells who has just changed the kept key that another one is used. */
export const noteEnvironmentKey = (context: Context): void => {
  if (variable(context.env, "SVC_API_KEY") !== undefined) {
    context.note("SVC_API_KEY is set and goes before the kept key.")
  }
}
