import { shellWord } from "@svc/common/foreign-text"
import type { Diff, RegistryChanges, Stack, StackSchema, StackWithSchema } from "@svc/client"
import { nearest } from "@svc/common/nearest"
import type { Context } from "../command.ts"
import { CliError, onCode } from "../errors.ts"
import { type Api, ask, platformOf, readPages } from "../services/api.ts"

export type Entity = StackSchema["entities"][number]

/**
 * A name in the registry's spelling, lower case and without white space around it. Throws stack-not-found for one that no stack can
 * have, as the registry does.
 */
export const registryName = (name: string): string => {
  const meant = name.trim().toLowerCase()
  // The registry's path of this name is its feed of changes.
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(meant) && meant !== "changes") return meant
  throw new CliError("stack-not-found", `There is no stack named ${JSON.stringify(name.slice(0, 100))}.`)
}

export const readEntry = async (api: Api, name: string): Promise<Stack> =>
  platformOf(api).registry.get(registryName(name))

/** Says that a stack is deprecated, if it is. The publisher's words come last: svc mcp passes on only what is before the next step. */
export const noteDeprecated = (
  { note }: Pick<Context, "note">,
  { name, deprecated }: Pick<Stack, "name" | "deprecated">,
): void => {
  if (deprecated === undefined) return
  const { message, successor } = deprecated
  const next = successor === undefined ? "svc explore" : `svc explore ${shellWord(successor)}, its successor`
  note(`${name} is deprecated. Next: ${next}. Its publisher says: ${message}`)
}

/** Reads what belongs to a stack. If the response says that it is deprecated, so does a note. */
export const readPartOf = async <Part>(
  context: Pick<Context, "note">,
  api: Api,
  name: string,
  read: (api: Api) => Promise<Part>,
): Promise<Part> => {
  let isDeprecated = false
  const onResponse: Api["onResponse"] = (response) => {
    api.onResponse?.(response)
    isDeprecated ||= response.header("deprecation") !== null
  }
  const part = await read({ ...api, onResponse })
  if (!isDeprecated) return part
  // What was read counts, whatever becomes of the stack meanwhile.
  const entry = await readEntry(api, name).catch(onCode(undefined, () => undefined))
  if (entry === undefined) context.note(`${registryName(name)} is deprecated.`)
  else noteDeprecated(context, entry)
  return part
}

export const readDiff = async (
  api: Api,
  name: string,
  versions: { readonly from?: number; readonly to?: number },
): Promise<Diff> => platformOf(api).registry.diff(registryName(name), versions)

/** Changes of the registry: those after an id, or the latest. */
export const readChanges = (
  api: Api,
  query: { readonly limit: number; readonly after?: number; readonly stack?: string },
): Promise<RegistryChanges> => {
  const words = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return ask(api, "GET", `/api/registry/changes?${words.join("&")}`)
}

/** All stacks. Schemas are most of the registry's response, so they only come if they are included. */
export const readRegistry = async (context: Context, api: Api, include?: "schema"): Promise<Stack[]> => {
  try {
    return await readPages(
      api,
      ({ registry }, page) => registry.list({ ...page, ...(include && { include }) }),
      (count) => context.progress(`Registry: ${count} stacks read`),
    )
  } finally {
    context.progress("")
  }
}

/** The error for a name that isn't there, with the nearest ones that are. */
const missing = (kind: string, name: string, names: readonly string[], command: string): CliError => {
  const near = nearest(name, names)
  const hint = near.length === 0 ? `There is no ${kind} at all.` : `Nearest: ${near.join(", ")}.`
  const next = ["Next:", command, ...near.slice(0, 1).map(shellWord)].join(" ")
  return new CliError(`${kind}-not-found`, `There is no ${kind} named ${JSON.stringify(name)}. ${hint}`, { next })
}

/** A stack with its schema, of the version that --at names. If there is none with this name, the error names the nearest ones. */
export const readStack = async (context: Context, api: Api, name: string): Promise<StackWithSchema> => {
  const { at } = context.options
  const nearestStacks = async (): Promise<never> => {
    const names = (await readRegistry(context, api)).map((stack) => stack.name)
    throw missing("stack", name, names, "svc explore")
  }
  const read = (reader: Api) =>
    platformOf(reader).registry.schema(registryName(name), at === undefined ? {} : { version: Number(at) })
  const found = await readPartOf(context, api, name, read).catch(onCode("stack-not-found", nearestStacks))
  const { name: own, description, websocket_url, schema } = found
  return { name: own, description, websocket_url, schema }
}

/** The one with this name, in any case and with white space around it. Throws the error of `missing` if there is none. */
export const named = <Item>(
  kind: string,
  wanted: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
  command: string,
): Item => {
  const meant = wanted.trim().toLowerCase()
  const found =
    items.find((item) => nameOf(item) === wanted) ?? items.find((item) => nameOf(item).toLowerCase() === meant)
  if (found !== undefined) return found
  throw missing(kind, wanted, items.map(nameOf), command)
}

/** The entity of a stack with this name. Throws entity-not-found with the nearest names. */
export const entityOf = ({ name: stack, schema }: StackWithSchema, wanted: string): Entity =>
  named("entity", wanted, schema.entities, ({ name }) => name, `svc explore ${shellWord(stack)}`)
