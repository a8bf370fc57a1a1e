import { isAbsolute, join } from "node:path"
import { CliError, usageError } from "../errors.ts"
import { normaliseUrl } from "./api-url.ts"
import { contextNamed, readContexts, type Urls } from "./contexts.ts"
import { nowhere } from "./files.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** What settings are read from. */
type Given = {
  readonly options: Readonly<Record<string, string>>
  readonly env: Environment
  readonly folder: string
  /** The copy of the platform that served this tool, if one did. */
  readonly copy: Urls | undefined
  /** Use that copy, rather than the current context, as long as no context is stored for it. */
  readonly prefersCopy?: true
}

const localUrls = {
  api: "http://localhost:4003",
  docs: "http://localhost:4001",
  relay: "http://localhost:4002",
} as const

/** A service: its URL is set by --NAME-url, SVC_…_URL, or …_url of a context. */
export type Service = keyof typeof localUrls

/** The value of a variable. An empty one counts as unset. */
export const variable = (env: Environment, name: string): string | undefined => {
  const value = env[name]?.trim()
  return value === "" ? undefined : value
}

/** The folder of the configuration and credentials files. A relative XDG_CONFIG_HOME is invalid by its specification. */
export const settingsFolder = (env: Environment, home: string | undefined): string => {
  const folder = variable(env, "XDG_CONFIG_HOME")
  if (folder !== undefined && isAbsolute(folder)) return join(folder, "svc")
  return home === undefined ? nowhere : join(home, ".config", "svc")
}

const urlVariable = (env: Environment, name: string): string | undefined => {
  const text = variable(env, name)
  const url = text === undefined ? undefined : normaliseUrl(text)
  if (url === undefined && text !== undefined) {
    throw new CliError("invalid-config", `${name} isn't an http or https URL without user, query or fragment.`)
  }
  return url
}

const explicitUrl = (service: Service, { options, env }: Pick<Given, "options" | "env">): string | undefined => {
  const option = options[`${service}-url`]
  if (option === undefined) return urlVariable(env, `SVC_${service.toUpperCase()}_URL`)
  const url = normaliseUrl(option)
  if (url !== undefined) return url
  throw usageError(`--${service}-url takes an http or https URL without user, query or fragment.`, "")
}

/** The URLs of the copy in use: of --context, of the current context, or of the copy that served this tool, in this order. */
const copyInUse = async ({ options, folder, copy, prefersCopy }: Omit<Given, "env">): Promise<Urls> => {
  const stored = await readContexts(folder)
  const { contexts, current = "" } = stored
  if (options["context"] !== undefined) return contextNamed(stored, options["context"])
  const isNew = Object.values(contexts).every((urls) => urls.api_url !== copy?.api_url)
  if (prefersCopy && copy !== undefined && isNew) return copy
  const used = contexts[current]
  // What a context lacks comes from the tool's copy, unless it is of another copy.
  return used?.api_url === undefined || used.api_url === copy?.api_url ? { ...copy, ...used } : used
}

/** The URL of a service: from the option, the environment, the copy in use, or the local port, in this order. */
export const serviceUrl = async (service: Service, given: Given): Promise<string> =>
  explicitUrl(service, given) ?? (await copyInUse(given))[`${service}_url`] ?? localUrls[service]

/** Every URL that is known of the copy in use. Only the services' have defaults, on this machine. */
export const copyUrls = async (given: Given): Promise<Urls & { readonly api_url: string }> => {
  const api_url = await serviceUrl("api", given)
  const used = await copyInUse(given)
  // Another API than the copy's is of another copy, of which nothing more is known.
  const local = { api_url: localUrls.api, docs_url: localUrls.docs, relay_url: localUrls.relay }
  const known = [local, given.copy, used].filter((urls) => urls?.api_url === api_url)
  const [docs_url, relay_url] = [explicitUrl("docs", given), explicitUrl("relay", given)]
  return Object.assign({}, ...known, docs_url && { docs_url }, relay_url && { relay_url }, { api_url })
}

/** The only API URL that gets the key in SVC_API_KEY: the environment or the tool's copy decides, never an option or a file. */
export const environmentApiUrl = ({ env, copy }: Pick<Given, "env" | "copy">): string =>
  urlVariable(env, "SVC_API_URL") ?? copy?.api_url ?? localUrls.api
