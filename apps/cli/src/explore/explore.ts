import { callApi, jsonOf, readPages, type Answer, type Api } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { CliError, usageError } from "../errors.ts"
import { entityTables, stackList, stackTables } from "./explore-tables.ts"
import { isObject, type JsonObject } from "@svc/common/json-object"
import { listOf, textOf } from "../output/json-value.ts"
import { apiForReading } from "../settings/key.ts"
import { nearest } from "../usage/nearest.ts"
import { isStackName, versionOption } from "./versions.ts"

const pick = (value: unknown, names: readonly string[]): JsonObject => {
  const from = isObject(value) ? value : {}
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]))
}

const noteIgnoredKey = (context: Context, header: Answer["header"]): void => {
  const code = header("x-auth-ignored")
  if (code !== null)
    context.note(`Your key was not accepted (${code}), only public stacks are shown. Next: svc auth status`)
}

const readRegistry = async (context: Context, api: Api, query: string): Promise<unknown[]> => {
  let first = true
  try {
    return await readPages(api, "/api/registry", query, (count, header) => {
      if (first) noteIgnoredKey(context, header)
      first = false
      context.progress(`Registry: ${count} stacks read`)
    })
  } finally {
    context.progress("")
  }
}

const missing = (kind: string, name: string, names: readonly string[], next: string): CliError => {
  const near = nearest(name, names)
  const hint = near.length === 0 ? "There is none at all." : `Nearest: ${near.join(", ")}.`
  return new CliError(`${kind}-not-found`, `There is no ${kind} named ${JSON.stringify(name)}. ${hint}`, { next })
}

const missingStack = async (context: Context, api: Api, name: string): Promise<CliError> => {
  const names = (await readRegistry(context, api, "limit=100")).map((stack) => textOf(stack, "name"))
  const [near] = nearest(name, names, 1)
  return missing("stack", name, names, `Next: svc explore ${near ?? ""}`.trim())
}

/** A stack with its schema; where there is none of this name, the error names the nearest. */
export const readStack = async (context: Context, api: Api, name: string): Promise<JsonObject> => {
  const at = versionOption(context, "at", "explore")
  // A name that no stack can have never becomes a part of a path.
  if (!isStackName(name)) throw await missingStack(context, api, name)
  try {
    const answer = await callApi(
      api,
      `/api/registry/${name.toLowerCase()}/schema${at === undefined ? "" : `?version=${at}`}`,
    )
    noteIgnoredKey(context, answer.header)
    if (answer.header("deprecation") !== null) context.note(`${name} is deprecated. Next: svc versions ${name}`)
    return pick(jsonOf(answer, api.url), ["name", "description", "websocket_url", "schema"])
  } catch (error) {
    throw error instanceof CliError && error.code === "stack-not-found" ? await missingStack(context, api, name) : error
  }
}

/** `svc explore [STACK [ENTITY]]`: what the registry has, ground truth for code that reads a stack. */
export const explore = async (context: Context): Promise<Outcome> => {
  const [name, entityName] = context.args
  const api = await apiForReading(context)
  if (name === undefined) {
    if (context.options["at"] !== undefined) throw usageError("--at goes with the name of a stack.", "explore")
    const names = ["name", "description", "websocket_url", "entities", "visibility", "schema"]
    // Tables need no schemas, which are most of the answer.
    const stacks = await readRegistry(
      context,
      api,
      context.flags.has("json") ? "include=schema&limit=100" : "limit=100",
    )
    const registry = stacks.map((stack) => pick(stack, names))
    return { json: { registry }, text: stackList(registry, api.url, context.bold) }
  }
  const stack = await readStack(context, api, name)
  const { schema } = stack
  if (entityName === undefined) return { json: stack, text: stackTables(stack, context.bold) }
  const entities = listOf(schema, "entities")
  const found =
    entities.find((entity) => textOf(entity, "name") === entityName) ??
    entities.find((entity) => textOf(entity, "name").toLowerCase() === entityName.toLowerCase())
  if (found === undefined) {
    const names = entities.map((entity) => textOf(entity, "name"))
    const [near] = nearest(entityName, names, 1)
    throw missing("entity", entityName, names, `Next: svc explore ${textOf(stack, "name")} ${near ?? ""}`.trim())
  }
  return { json: found, text: entityTables(found, context.bold) }
}
