import { isObject } from "@svc/common/json-object"
import type { Context } from "../command.ts"
import { onCode } from "../errors.ts"
import { call } from "../services/api.ts"
import { copyUrls } from "../settings/settings.ts"

const timeoutMs = 1000

/** A stack, and how many records each of its entities has now, if its stream server tells. */
export type WithRecords<Stack> = Stack & { readonly records?: Readonly<Record<string, number>> }

/** What a stream server reports of a stack at /health, if it's a server that does. */
const recordsIn = (body: unknown, stack: string): WithRecords<object> => {
  const { stacks }: { readonly stacks?: unknown } = isObject(body) ? body : {}
  const { entities }: { readonly entities?: unknown } = Object(
    isObject(stacks) && Object.hasOwn(stacks, stack) ? stacks[stack] : undefined,
  )
  if (!isObject(entities)) return {}
  const counts = Object.entries(entities).filter((entry): entry is [string, number] => typeof entry[1] === "number")
  return { records: Object.fromEntries(counts) }
}

/**
 * Adds `records` to the stacks of the copy's own stream server, which tells at /health how many records each entity has now. Any
 * other host of a stack could be anybody's, so it isn't asked. A server that can't be reached, or tells nothing, isn't an error.
 */
export const withRecords = async <Stack extends { readonly name: string; readonly websocket_url: string }>(
  context: Context,
  stacks: readonly Stack[],
): Promise<readonly WithRecords<Stack>[]> => {
  const { stream_url: stream } = await copyUrls(context)
  const isOwn = ({ websocket_url }: Stack): boolean => stream !== undefined && websocket_url.startsWith(`${stream}/`)
  if (stream === undefined || !stacks.some(isOwn)) return stacks
  const base = new URL(stream.replace("ws", "http")).origin
  const nothing = onCode(undefined, () => ({ body: undefined }))
  const { body } = await call({ service: "relay", base, env: context.env }, "/health", { timeoutMs }).catch(nothing)
  return stacks.map((stack) => (isOwn(stack) ? Object.assign({}, stack, recordsIn(body, stack.name)) : stack))
}
