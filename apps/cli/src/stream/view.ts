import { createSession, createStream, type StackSchema, type Watched } from "@svc/client"
import { firstView } from "@svc/common/stack-views"
import { WebSocket } from "ws"
import type { Context } from "../command.ts"
import { missing, readStack } from "../explore/explore.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { platformOf } from "../services/relay.ts"
import { apiWithKey } from "../settings/key.ts"

type Records = ReadonlyMap<string, unknown>

const differences = (before: Records, after: Records): object[] => [
  ...[...before.keys()].filter((key) => !after.has(key)).map((key) => ({ op: "delete", key })),
  ...[...after]
    .filter(([key, record]) => JSON.stringify(before.get(key)) !== JSON.stringify(record))
    .map(([key, record]) => ({ op: "upsert", key, record })),
]

/** The changes since the last step. A snapshot after the first one follows a lost connection: what differs has changed. */
export const createLater = () => {
  let before: Records | undefined
  return ({ records, change }: Watched<unknown>): readonly object[] => {
    const last = before
    before = records
    if (change.op !== "snapshot") return [change]
    return last === undefined ? [] : differences(last, records)
  }
}

/** A stream of a stack's records. @param given the view; by default the first one that the stack defines */
export const openView = async (context: Context, name: string, given: string | undefined) => {
  const api = await apiWithKey(context)
  const stack = await readStack(context, api, name)
  const [stackName, websocketUrl] = [textOf(stack, "name"), textOf(stack, "websocket_url")]
  const entities = listOf(stack["schema"], "entities").map((entity) => ({
    name: textOf(entity, "name"),
    views: listOf(entity, "views").map((view) => ({ id: textOf(view, "id") })),
  }))
  const views = entities.flatMap((entity) => entity.views.map(({ id }) => id))
  if (given !== undefined && !views.includes(given)) throw missing("view", given, views, `svc watch ${stackName}`)
  // The platform's tests check its responses against the document that this type is generated from.
  const schema = stack["schema"] as StackSchema
  const session = createSession({ platform: platformOf(api), websocketUrl, scope: "read" })
  // Node 20 has no WebSocket of its own.
  const stream = createStream({ websocketUrl, session, schema, webSocket: WebSocket })
  return { stackName, websocketUrl, view: given ?? firstView(entities), schema, stream }
}
