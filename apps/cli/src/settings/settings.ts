import { readFile } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { normaliseUrl } from "./api-url.ts"
import { CliError, isMissing, systemReason, usageError } from "../errors.ts"
import { isObject, type JsonObject } from "@svc/common/json-object"
import { parseJson } from "../output/json-value.ts"
import { makeFolder, replaceFile } from "./replace-file.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** The ports that the services listen on when nothing else is said. */
const localUrls = {
  api: "http://localhost:4003",
  docs: "http://localhost:4001",
  relay: "http://localhost:4002",
} as const

const services = {
  api: { flag: "api-url", variable: "SVC_API_URL", member: "api_url" },
  docs: { flag: "docs-url", variable: "SVC_DOCS_URL", member: "docs_url" },
  relay: { flag: "relay-url", variable: "SVC_RELAY_URL", member: "relay_url" },
} as const

type Service = keyof typeof services

/** The value of a variable; one that is set but empty counts as unset. */
export const variable = (env: Environment, name: string): string | undefined => {
  const value = env[name]?.trim()
  return value === "" ? undefined : value
}

/** The folder of the configuration and credentials files. A relative XDG_CONFIG_HOME is invalid by its specification. */
export const settingsFolder = (env: Environment, home: string | undefined): string => {
  const folder = variable(env, "XDG_CONFIG_HOME")
  if (folder !== undefined && isAbsolute(folder)) return join(folder, "svc")
  if (home === undefined) throw new CliError("no-home-folder", "This user has no home folder to keep files in.")
  return join(home, ".config", "svc")
}

const configFile = (folder: string): string => join(folder, "config.json")

const readConfig = async (folder: string): Promise<JsonObject> => {
  const path = configFile(folder)
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (isMissing(error)) return "{}"
    throw new CliError("invalid-config", `${path} cannot be read (${systemReason(error)}).`)
  })
  const value = parseJson(text)
  if (!isObject(value)) throw new CliError("invalid-config", `${path} is not a JSON object.`)
  return value
}

const checked = (text: unknown, where: string): string => {
  const url = typeof text === "string" ? normaliseUrl(text) : undefined
  if (url === undefined) throw new CliError("invalid-config", `${where} is not an http or https URL.`)
  return url
}

/** The URL in a flag; undefined without the flag. */
const flagUrl = (flags: Readonly<Record<string, string>>, service: Service): string | undefined => {
  const { flag } = services[service]
  const text = flags[flag]
  if (text === undefined) return undefined
  const url = normaliseUrl(text)
  if (url === undefined) throw usageError(`--${flag} takes an http or https URL without user, query or fragment.`)
  return url
}

/** The URL of a service: flag, environment, configuration file, local port, in this order. */
export const serviceUrl = async (
  service: Service,
  flags: Readonly<Record<string, string>>,
  env: Environment,
  folder: string,
): Promise<string> => {
  const { variable: name, member } = services[service]
  const flag = flagUrl(flags, service)
  if (flag !== undefined) return flag
  const value = variable(env, name)
  if (value !== undefined) return checked(value, name)
  const config = await readConfig(folder)
  return config[member] === undefined
    ? localUrls[service]
    : checked(config[member], `${member} in ${configFile(folder)}`)
}

/** The only API URL that the key in SVC_API_KEY is sent to: what the environment says, never a flag or a file. */
export const environmentApiUrl = (env: Environment): string => {
  const value = variable(env, "SVC_API_URL")
  return value === undefined ? localUrls.api : checked(value, "SVC_API_URL")
}

/** Writes the URLs given as flags into the configuration file, beside what it has; the path when that changed anything. */
export const keepUrls = async (
  flags: Readonly<Record<string, string>>,
  folder: string,
): Promise<string | undefined> => {
  const given = (["api", "docs", "relay"] as const).flatMap((service) => {
    const url = flagUrl(flags, service)
    return url === undefined ? [] : [[services[service].member, url] as const]
  })
  if (given.length === 0) return undefined
  const config = await readConfig(folder)
  if (given.every(([member, url]) => config[member] === url)) return undefined
  const path = configFile(folder)
  const text = `${JSON.stringify({ ...config, ...Object.fromEntries(given) }, undefined, 2)}\n`
  try {
    await makeFolder(folder, 0o700)
    await replaceFile(path, text, 0o600)
  } catch (error) {
    throw new CliError("config-unwritable", `${path} cannot be written (${systemReason(error)}).`)
  }
  return path
}
