import {
  type Change,
  type Condition,
  createSession,
  createStream,
  type Platform,
  SvcError,
  type Watched,
} from "@svc/client"
import { ownError } from "@svc/client/http"
import { createFilter } from "@svc/client/where"
import { shellWord } from "@svc/common/foreign-text"
import { firstView } from "@svc/common/stack-views"
import type { Context } from "../command.ts"
import { CliError, onCode, systemReason } from "../errors.ts"
import { named, readStack } from "../explore/stack.ts"
import { platformOf } from "../services/api.ts"
import { apiForReading, apiWithKey, keysFor } from "../settings/key.ts"
import { webSocketFor } from "./web-socket.ts"

type Records = ReadonlyMap<string, unknown>

export type Difference = Exclude<Change<unknown>, { readonly op: "snapshot" }>

const differences = (before: Records, after: Records): Difference[] => [
  ...[...before.keys()].filter((key) => !after.has(key)).map((key) => ({ op: "delete" as const, key })),
  ...[...after]
    .filter(([key, record]) => JSON.stringify(before.get(key)) !== JSON.stringify(record))
    .map(([key, record]) => ({ op: "upsert" as const, key, record })),
]

/** The changes since the last step. A snapshot after the first one follows a lost connection: what differs has changed. */
export const createLater = () => {
  let before: Records | undefined
  return ({ records, change }: Watched<unknown>): readonly Difference[] => {
    const last = before
    before = records
    if (change.op !== "snapshot") return [change]
    return last === undefined ? [] : differences(last, records)
  }
}

const absent = new Set(["ECONNREFUSED", "ENOTFOUND"])

/**
 * Why no connection to a stream was opened, as far as its server or the system tells. `isServed` is false where no stream is at
 * the URL. Undefined for another error.
 */
export const unreadable = (
  error: unknown,
  { stackName, websocketUrl }: { readonly stackName: string; readonly websocketUrl: string },
): { readonly message: string; readonly isServed: boolean } | undefined => {
  if (!(error instanceof SvcError) || error.code !== "network-error" || !(error.cause instanceof Error))
    return undefined
  const { cause } = error
  const status = Number(/server response: (\d+)/.exec(cause.message)?.[1] ?? 0)
  // A proxy's failure is an error of the tool.
  const said = cause instanceof CliError ? cause.message.replace(/\.$/, "") : systemReason(cause)
  const reason = status === 0 ? said : `the server there responds with HTTP status ${status}`
  const isServed = status === 0 ? !absent.has(said) : [401, 403, 429].includes(status) || status >= 500
  const message = isServed
    ? `The stream of ${stackName} at ${websocketUrl} can't be read now: ${reason}.`
    : `${stackName} is published, but no stream serves it at ${websocketUrl}: ${reason}.`
  return { message, isServed }
}

/** A stream of a stack's records. @param given the view; by default the first one that the stack defines */
export const openView = async (context: Context, name: string, given: string | undefined) => {
  const api = await apiWithKey(context)
  // The key of whoever lists and describes stacks: no name is known in one place and unknown in the next.
  const reader = await apiForReading({ ...context, note: () => {} })
  const { name: stackName, websocket_url: websocketUrl, schema } = await readStack(context, reader, name)
  const views = schema.entities.flatMap((entity) => entity.views.map(({ id }) => id))
  const wanted =
    given === undefined ? undefined : named("view", given, views, String, `svc watch ${shellWord(stackName)}`)
  // Another process, or rotate_key, may replace the stored key while the view is followed.
  const mintSession: Platform["mintSession"] = async (asked) => {
    const stored = keysFor({ ...context, note: () => {} }, api.url).catch(onCode(undefined, () => undefined))
    const { agent, person } = (await stored) ?? {}
    return platformOf({ ...api, key: agent ?? person ?? api.key })
      .mintSession(asked)
      .catch((error: unknown) => {
        if (!(error instanceof SvcError) || error.code !== "agent-account-forbidden") throw error
        const message = `${stackName} isn't a public stack now, and only public stacks can be read.`
        throw new SvcError({ status: error.status, code: error.code, message })
      })
  }
  const session = createSession({ platform: { mintSession }, websocketUrl, scope: "read" })
  const webSocket = await webSocketFor(websocketUrl, context.env)
  const stream = createStream({ websocketUrl, session, schema, webSocket })
  const view = wanted ?? firstView(schema.entities)
  /** Throws field-not-found and invalid-where if the stack's version of now doesn't have what the conditions need. */
  const checkAgain = async (where: readonly Condition[]): Promise<void> => {
    const now = await readStack({ ...context, note: () => {} }, reader, stackName).catch(
      onCode(undefined, () => undefined),
    )
    if (now !== undefined) createFilter({ view, schema: now.schema, errors: { ownError } }, where)
  }
  return { stackName, websocketUrl, view, schema, stream, checkAgain }
}
