import { isObject, type JsonObject } from "@svc/common/json-object"
import type { Context } from "../command.ts"
import { textOf } from "../output/json-value.ts"
import { healthOf } from "../services/api.ts"
import { copyUrls } from "../settings/settings.ts"

const timeoutMs = 1000

/**
 * Adds `records` to the stacks of the copy's own stream server, which tells at /health how many records each entity has now. Any
 * other host of a stack could be anybody's, so it isn't asked. A server that can't be reached, or tells nothing, isn't an error.
 */
export const withRecords = async (context: Context, stacks: readonly JsonObject[]): Promise<readonly JsonObject[]> => {
  const { stream_url: stream } = await copyUrls(context)
  const isOwn = (stack: JsonObject): boolean =>
    stream !== undefined && textOf(stack, "websocket_url").startsWith(`${stream}/`)
  if (stream === undefined || !stacks.some(isOwn)) return stacks
  const origin = new URL(stream.replace("ws", "http")).origin
  const health = await healthOf("relay", origin, "", timeoutMs)
  const told = isObject(health) ? health["stacks"] : undefined
  return stacks.map((stack) => {
    const state = isObject(told) && isOwn(stack) ? told[textOf(stack, "name")] : undefined
    return isObject(state) && isObject(state["entities"])
      ? Object.assign({}, stack, { records: state["entities"] })
      : stack
  })
}
