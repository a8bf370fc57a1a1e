import { isObject, type JsonObject } from "@svc/common/json-object"
import { textOf } from "../output/json-value.ts"
import { call } from "../services/api.ts"

const timeoutMs = 1000
// Stream servers of one copy have one origin. More of them aren't worth the wait.
const mostServers = 8

const originOf = (websocketUrl: string): string => {
  const url = URL.canParse(websocketUrl) ? new URL(websocketUrl) : undefined
  return url === undefined ? "" : `${url.protocol.replace("ws", "http")}//${url.host}`
}

/**
 * Adds `records` to the stacks whose stream server tells at /health how many records each entity has now. A server that can't be
 * reached, or tells nothing, isn't an error. No key is sent.
 */
export const withRecords = async (stacks: readonly JsonObject[]): Promise<readonly JsonObject[]> => {
  const origins = [...new Set(stacks.map((stack) => originOf(textOf(stack, "websocket_url"))))].slice(0, mostServers)
  const told = await Promise.all(
    origins.map(async (origin) => {
      const answer = await call("relay", origin, "/health", { timeoutMs }).catch(() => undefined)
      return [origin, isObject(answer?.body) ? answer.body["stacks"] : undefined] as const
    }),
  )
  const byOrigin = new Map(told)
  return stacks.map((stack) => {
    const known = byOrigin.get(originOf(textOf(stack, "websocket_url")))
    const state = isObject(known) ? known[textOf(stack, "name")] : undefined
    return isObject(state) && isObject(state["entities"])
      ? Object.assign({}, stack, { records: state["entities"] })
      : stack
  })
}
