import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { isObject, type JsonObject } from "@svc/common/json-object"
import { asCode, CliError } from "../errors.ts"
import { closeTo } from "@svc/common/nearest"
import { normaliseUrl } from "./api-url.ts"
import { lockFile } from "./file-lock.ts"
import { makeFolder, readObject, replaceFile, storedIn } from "./files.ts"

const members = ["api_url", "docs_url", "relay_url", "stream_url", "chain_url"] as const

/** The URLs of one copy of the platform. */
export type Urls = Partial<Readonly<Record<(typeof members)[number], string>>>

type Contexts = { readonly contexts: Readonly<Record<string, Urls>>; readonly current: string | undefined }

export const configFile = (folder: string): string => join(folder, "config.json")

/** The members of a value that are URLs. @param fault is called for a member that isn't one */
export const urlsOf = (value: unknown, fault: (member: string) => void = () => {}): Urls => {
  const given = isObject(value) ? value : {}
  return Object.fromEntries(
    members.flatMap((member) => {
      const text = given[member]
      if (text === undefined) return []
      // A stream's URL has the same form, with ws or wss.
      const scheme = member === "stream_url" ? "ws" : "http"
      const url =
        typeof text === "string" ? normaliseUrl(text.replace(new RegExp(`^${scheme}(?=s?:)`), "http")) : undefined
      if (url === undefined) fault(member)
      return url === undefined ? [] : [[member, url.replace("http", scheme)]]
    }),
  )
}

const contextsIn = (config: JsonObject, path: string): Contexts => {
  const read = (value: unknown): Urls =>
    urlsOf(value, (member) => {
      throw new CliError(
        "invalid-config",
        `${member} in ${path} isn't an http or https URL without user, query or fragment.`,
      )
    })
  const { contexts: stored = {}, current } = config
  if (!isObject(stored)) throw new CliError("invalid-config", `contexts in ${path} isn't an object.`)
  // Without a prototype, so that a name such as "constructor" finds nothing.
  const contexts: Record<string, Urls> = Object.create(null)
  for (const [name, value] of Object.entries(stored)) contexts[name] = read(value)
  return { contexts, current: typeof current === "string" && current in contexts ? current : undefined }
}

/** All contexts, and the name of the current one. Throws invalid-config. */
export const readContexts = async (folder: string): Promise<Contexts> => {
  const path = configFile(folder)
  return contextsIn(await readObject(path, "invalid-config"), path)
}

/** The context of this name. Throws context-not-found with the names that there are. */
export const contextNamed = ({ contexts }: Contexts, name: string): Urls => {
  const found = contexts[name]
  if (found !== undefined) return found
  const names = Object.keys(contexts)
  const near = closeTo(name, names)
  const others = names.length === 0 ? "none is stored" : `there are ${names.join(", ")}`
  const hint = near === undefined ? "" : ` Did you mean ${near}?`
  throw new CliError("context-not-found", `There is no context ${name}; ${others}.${hint}`)
}

/** Replaces the contexts in the file, one process at a time. Returns false if nothing changed. Throws config-unwritable. */
const changeContexts = async (folder: string, change: (now: Contexts) => Contexts): Promise<boolean> => {
  const path = configFile(folder)
  const write = async (): Promise<boolean> => {
    await makeFolder(storedIn(folder), 0o700)
    const lock = await lockFile(`${path}.lock`)
    try {
      const config = await readObject(path, "invalid-config")
      const { contexts, current } = change(contextsIn(config, path))
      const next = { ...config, contexts: { ...contexts }, current }
      if (isDeepStrictEqual(next, config)) return false
      await replaceFile(path, `${JSON.stringify(next, undefined, 2)}\n`, 0o600)
      return true
    } finally {
      await lock.release()
    }
  }
  return write().catch(asCode("config-unwritable", (reason) => `${path} can't be written (${reason})`))
}

/** Stores a copy's URLs and makes it the current context. It's named after its API's host, or keeps its name. */
export const storeContext = async (folder: string, urls: Urls & { readonly api_url: string }) => {
  const { host, pathname } = new URL(urls.api_url)
  let name = `${host}${pathname.replace(/\/$/, "")}`
  const changed = await changeContexts(folder, ({ contexts }) => {
    const known = Object.keys(contexts).find((one) => contexts[one]?.api_url === urls.api_url)
    for (let number = 2; name in contexts; number++) name = `${host}-${number}`
    name = known ?? name
    return { contexts: { ...contexts, [name]: { ...contexts[name], ...urls } }, current: name }
  })
  return { name, changed }
}

export const chooseContext = async (folder: string, name: string): Promise<Urls> => {
  let chosen: Urls = {}
  await changeContexts(folder, (now) => {
    chosen = contextNamed(now, name)
    return { ...now, current: name }
  })
  return chosen
}

export const forgetContexts = async (folder: string, apiUrl: string): Promise<void> => {
  const isKept = (urls: Urls | undefined): boolean => urls?.api_url !== apiUrl
  if (Object.values((await readContexts(folder)).contexts).every(isKept)) return
  await changeContexts(folder, ({ contexts, current = "" }) => ({
    contexts: Object.fromEntries(Object.entries(contexts).filter(([, urls]) => isKept(urls))),
    current: isKept(contexts[current]) ? current : undefined,
  }))
}
