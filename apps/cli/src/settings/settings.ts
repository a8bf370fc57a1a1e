import { isAbsolute, join } from "node:path"
import type { JsonObject } from "@svc/common/json-object"
import { CliError, systemReason, usageError } from "../errors.ts"
import { normaliseUrl } from "./api-url.ts"
import { makeFolder, readObject, replaceFile } from "./files.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** What settings are read from. */
type Given = {
  readonly options: Readonly<Record<string, string>>
  readonly env: Environment
  readonly folder: string
}

/** The services and their ports on this machine. */
const localUrls = {
  api: "http://localhost:4003",
  docs: "http://localhost:4001",
  relay: "http://localhost:4002",
} as const

/** A service: its URL is set by --NAME-url, SVC_NAME_URL, or NAME_url in the configuration file. */
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
  if (home === undefined) throw new CliError("no-home-folder", "This user has no home folder to store files in.")
  return join(home, ".config", "svc")
}

const configFile = (folder: string): string => join(folder, "config.json")

const readConfig = (folder: string): Promise<JsonObject> => readObject(configFile(folder), "invalid-config")

const checked = (text: unknown, where: string): string => {
  const url = typeof text === "string" ? normaliseUrl(text) : undefined
  if (url === undefined) throw new CliError("invalid-config", `${where} isn't an http or https URL.`)
  return url
}

const urlOption = ({ options }: Pick<Given, "options">, service: Service): string | undefined => {
  const text = options[`${service}-url`]
  if (text === undefined) return undefined
  const url = normaliseUrl(text)
  if (url === undefined)
    throw usageError(`--${service}-url takes an http or https URL without user, query or fragment.`, "")
  return url
}

/** The URL of a service: from the option, the environment, the configuration file, or the local port, in this order. */
export const serviceUrl = async (service: Service, given: Given): Promise<string> => {
  const option = urlOption(given, service)
  if (option !== undefined) return option
  const name = `SVC_${service.toUpperCase()}_URL`
  const value = variable(given.env, name)
  if (value !== undefined) return checked(value, name)
  const member = `${service}_url`
  const kept = (await readConfig(given.folder))[member]
  return kept === undefined ? localUrls[service] : checked(kept, `${member} in ${configFile(given.folder)}`)
}

/** The only API URL that gets the key in SVC_API_KEY: the environment decides, never an option or a file. */
export const environmentApiUrl = (env: Environment): string => {
  const value = variable(env, "SVC_API_URL")
  return value === undefined ? localUrls.api : checked(value, "SVC_API_URL")
}

/** Adds the URLs given as options to the configuration file. Returns its path if that changed anything. */
export const storeUrls = async (given: Given): Promise<string | undefined> => {
  const urls = (["api", "docs", "relay"] as const).flatMap((service) => {
    const url = urlOption(given, service)
    return url === undefined ? [] : [[`${service}_url`, url] as const]
  })
  if (urls.length === 0) return undefined
  const config = await readConfig(given.folder)
  if (urls.every(([member, url]) => config[member] === url)) return undefined
  const path = configFile(given.folder)
  const text = `${JSON.stringify({ ...config, ...Object.fromEntries(urls) }, undefined, 2)}\n`
  try {
    await makeFolder(given.folder, 0o700)
    await replaceFile(path, text, 0o600)
  } catch (error) {
    throw new CliError("config-unwritable", `${path} can't be written (${systemReason(error)}).`)
  }
  return path
}
