import { isObject, type JsonObject } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode, usageError } from "../errors.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { readPages, type Answer, type Api } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { copyUrls } from "../settings/settings.ts"
import { nearest } from "@svc/common/nearest"
import { entityText, stackList, stackText } from "./explore-tables.ts"
import { withRecords } from "./records-now.ts"
import { readSchema } from "./stack.ts"

const pick = (value: unknown, names: readonly string[]): JsonObject => {
  const from = isObject(value) ? value : {}
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]))
}

const noteIgnoredKey = (context: Context, header: Answer["header"]): void => {
  const code = header("x-auth-ignored")
  if (code === null) return
  context.note(`The API didn't accept your key (${code}), so only public stacks are shown. Next: svc auth status`)
}

export const readRegistry = async (context: Context, api: Api, query: string): Promise<unknown[]> => {
  let isFirst = true
  try {
    return await readPages(api, "/api/registry", query, (count, header) => {
      if (isFirst) noteIgnoredKey(context, header)
      isFirst = false
      context.progress(`Registry: ${count} stacks read`)
    })
  } finally {
    context.progress("")
  }
}

export const missing = (kind: string, name: string, names: readonly string[], command: string): CliError => {
  const near = nearest(name, names)
  const hint = near.length === 0 ? `There is no ${kind} at all.` : `Nearest: ${near.join(", ")}.`
  const next = `Next: ${command} ${near[0] ?? ""}`.trim()
  return new CliError(`${kind}-not-found`, `There is no ${kind} named ${JSON.stringify(name)}. ${hint}`, { next })
}

/** A stack with its schema. If there is none with this name, the error names the nearest ones. */
export const readStack = async (context: Context, api: Api, name: string): Promise<JsonObject> => {
  const nearestStacks = async (): Promise<never> => {
    const names = (await readRegistry(context, api, "limit=100")).map((stack) => textOf(stack, "name"))
    throw missing("stack", name, names, "svc explore")
  }
  const answer = await readSchema(context, api, name).catch(onCode("stack-not-found", nearestStacks))
  noteIgnoredKey(context, answer.header)
  if (answer.header("deprecation") !== null) context.note(`${name} is deprecated. Next: svc versions ${name}`)
  return pick(answer.body, ["name", "description", "websocket_url", "schema"])
}

const stackMembers = ["name", "description", "websocket_url", "entities", "visibility", "schema"]

/** All stacks, with the records that they have now. @param query of the registry: schemas are most of its response */
export const readStacks = async (context: Context, api: Api, query = "limit=100"): Promise<readonly JsonObject[]> =>
  withRecords(
    context,
    (await readRegistry(context, api, query)).map((stack) => pick(stack, stackMembers)),
  )

const exploreAll = async (context: Context, api: Api): Promise<Outcome> => {
  if (context.options["at"] !== undefined) throw usageError("--at needs the name of a stack.")
  const registry = await readStacks(context, api, context.format === "text" ? "limit=100" : "include=schema&limit=100")
  const { chain_url: chain } = await copyUrls(context)
  const about = chain === undefined ? "" : `\nThis copy's chain: ${chain} (requestAirdrop gives test funds)`
  return { json: { registry }, text: (style) => stackList(registry, api.url, style) + about }
}

/** The entity of a stack with this name, whatever its case. Throws entity-not-found with the nearest names. */
export const entityOf = (stack: JsonObject, entityName: string): unknown => {
  const entities = listOf(stack["schema"], "entities")
  const names = entities.map((entity) => textOf(entity, "name"))
  const exact = names.indexOf(entityName)
  const index = exact === -1 ? names.findIndex((one) => one.toLowerCase() === entityName.toLowerCase()) : exact
  if (index === -1) throw missing("entity", entityName, names, `svc explore ${textOf(stack, "name")}`)
  return entities[index]
}

/** `svc explore [STACK [ENTITY]]`: what the registry contains. */
export const explore = async (context: Context): Promise<Outcome> => {
  const [name, entityName] = context.args
  const api = await apiForReading(context)
  if (name === undefined) return exploreAll(context, api)
  const stack = await readStack(context, api, name)
  if (entityName === undefined) {
    const [json = stack] = await withRecords(context, [stack])
    return { json, text: (style) => stackText(json, style) }
  }
  const entity = entityOf(stack, entityName)
  return { json: entity, text: (style) => entityText(entity, listOf(stack["schema"], "types"), style) }
}
