import type { SessionClaims } from "@svc/session-token"
import type { WebSocket } from "ws"
import { nearest } from "@svc/common/nearest"
import { firstFailure, inOwnWords } from "@svc/common/validation"
import { z } from "zod"
import { faultMessage, StreamFault } from "./faults.ts"
import { createOutbox } from "./outbox.ts"
import type { Stack } from "../stack/stack.ts"
import { toJson, type Value } from "../stack/value.ts"

/** What a token's owner uses over all connections. The counters add an amount and return the minute's total. */
export type Subject = {
  connections: number
  subscriptions: number
  readonly messages: (amount: number) => number
  readonly bytes: (amount: number) => number
}

export type ConnectionOptions = {
  readonly stack: Stack
  readonly claims: SessionClaims
  readonly subject: Subject
  /** Returns the claims of a renewed token for the same stack. Throws StreamFault. */
  readonly verify: (token: string) => Promise<SessionClaims>
  /** In milliseconds since 1970. */
  readonly wallClock: () => number
  /** Called for an error that the client didn't cause. */
  readonly onBug: (error: unknown) => void
}

const count = z.int().nonnegative().nullish()
const text = z.string().max(1024).nullish()
const address = { view: z.string(), key: text }
const window = { take: count, skip: count, snapshotLimit: count, withSnapshot: z.boolean().nullish(), after: text }
// A server that ignored a filter would send records that the client never asked for. Existing clients send `partition`,
// which narrows nothing here, and empty members.
const unknownMember = z
  .unknown()
  .refine(
    (value) => typeof value === "object" && Object.keys(value ?? {}).length === 0,
    "isn't a field of a subscription. Filter the records that arrive, or subscribe to a view with a filter",
  )
/** What a client may send. */
export const clientMessage = z.discriminatedUnion(
  "type",
  [
    z
      .object({ type: z.literal("subscribe"), ...address, ...window, partition: z.unknown().optional() })
      .catchall(unknownMember),
    z.object({ type: z.literal("unsubscribe"), ...address }),
    z.object({ type: z.literal("ping") }),
    z.object({ type: z.literal("refresh_auth"), token: z.string() }),
  ],
  {
    error: ({ code }) =>
      code === "invalid_union" ? "must be subscribe, unsubscribe, ping or refresh_auth" : undefined,
  },
)

type Message = z.infer<typeof clientMessage>

/** Throws StreamFault, which names the first wrong field. */
const readMessage = (source: string): Message => {
  try {
    const result = clientMessage.safeParse(JSON.parse(source), inOwnWords)
    if (result.success) return result.data
    const { path, reason } = firstFailure(result.error)
    throw new StreamFault("invalid-message", `${path === "" ? "The message" : path} ${reason}.`)
  } catch (error) {
    throw error instanceof SyntaxError ? new StreamFault("invalid-message", "The message isn't JSON.") : error
  }
}

const snapshotBatch = 500
// Each change looks at every window that somebody has asked for.
const mostSubscriptions = 1000
const longestReason = 123

function* snapshot(
  view: { id: string; mode: string },
  rows: readonly { key: string; data: Value }[],
): Generator<string> {
  for (let start = 0; start === 0 || start < rows.length; start += snapshotBatch) {
    const end = start + snapshotBatch
    const data = rows.slice(start, end)
    yield toJson({ mode: view.mode, entity: view.id, op: "snapshot", data, complete: end >= rows.length })
  }
}

/** Serves one client until its connection ends. */
export const serveConnection = (socket: WebSocket, options: ConnectionOptions) => {
  const { stack, subject, verify, wallClock, onBug } = options
  let { claims } = options
  /** Functions that unsubscribe, by view and key. */
  const leaves = new Map<string, () => void>()
  let ending: NodeJS.Timeout | undefined

  const end = ({ fault }: StreamFault): void => {
    socket.send(faultMessage(fault))
    socket.close(1008, `${fault.code}: ${fault.message}`.slice(0, longestReason))
  }
  const outbox = createOutbox(socket, (bytes) => {
    const isSpent = subject.bytes(0) >= (claims.limits?.max_bytes_per_minute ?? Infinity)
    if (isSpent) end(new StreamFault("egress-limit-exceeded"))
    else subject.bytes(bytes)
    return !isSpent
  })
  const fail = (error: unknown): void => {
    if (error instanceof StreamFault) {
      if (error.fault.fatal === true) end(error)
      else outbox.send(faultMessage(error.fault))
      return
    }
    onBug(error)
    socket.close(1011)
  }

  const endWithToken = (): void => {
    clearTimeout(ending)
    ending = setTimeout(() => end(new StreamFault("token-expired")), Math.max(0, claims.exp * 1000 - wallClock()))
  }

  const idOf = ({ view, key }: { view: string; key?: string | null | undefined }): string => JSON.stringify([view, key])
  const leave = (id: string): void => {
    leaves.get(id)?.()
    if (leaves.delete(id)) subject.subscriptions--
  }

  const subscribe = (wanted: Extract<Message, { type: "subscribe" }>): void => {
    const { view: name, take, skip, withSnapshot, snapshotLimit } = wanted
    const [key, after] = [wanted.key ?? undefined, wanted.after ?? undefined]
    const { max_subscriptions = Infinity, max_snapshot_rows = Infinity } = claims.limits ?? {}
    const { view, channels } = stack.view(name) ?? {}
    if (view === undefined || channels === undefined) {
      const near = nearest(name, stack.viewIds()).join(", ")
      throw new StreamFault("view-not-found", undefined, `Nearest: ${near}. The schema lists the views.`)
    }
    if (view.unsupported !== undefined) {
      throw new StreamFault("view-unsupported", `The local stream doesn't compute ${view.unsupported}.`)
    }
    if (view.needsKey && key === undefined) throw new StreamFault("key-required")
    const id = idOf({ view: name, key })
    leave(id)
    if (subject.subscriptions >= max_subscriptions || leaves.size >= mostSubscriptions)
      throw new StreamFault("subscription-limit-exceeded")
    const asked = { view, key, skip: skip ?? 0, take: take ?? undefined }
    const { rows, missed, leave: left } = channels.subscribe(asked, outbox.send, after)
    const shown = [...rows].slice(0, snapshotLimit ?? undefined).map(([own, { shown: data }]) => ({ key: own, data }))
    // A client whose missed frames aren't known anymore gets a snapshot, whatever it asked for.
    const isWhole = missed === undefined && (withSnapshot !== false || after !== undefined)
    if (isWhole && shown.length > max_snapshot_rows) {
      left()
      throw new StreamFault("snapshot-limit-exceeded")
    }
    leaves.set(id, left)
    subject.subscriptions++
    outbox.send(toJson({ op: "subscribed", view: view.id, mode: view.mode, sort: view.sort }))
    if (isWhole) outbox.send(snapshot(view, shown))
    for (const frame of missed ?? []) outbox.send(frame)
  }

  const renew = async (token: string): Promise<void> => {
    try {
      claims = await verify(token)
      endWithToken()
      outbox.send(JSON.stringify({ success: true, expiresAt: claims.exp }))
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error
      outbox.send(JSON.stringify({ success: false, error: error.fault.code }))
    }
  }

  /** Renews in the order of arrival, so that an earlier token never replaces a later one. */
  let renewing = Promise.resolve()
  const refresh = (token: string): Promise<void> => {
    const last = renewing.catch(() => {}).then(() => renew(token))
    renewing = last
    return last
  }

  const receive = async (source: string): Promise<void> => {
    const limit = claims.limits?.max_messages_per_minute ?? Infinity
    if (subject.messages(1) > limit) throw new StreamFault("rate-limit-exceeded")
    const message = readMessage(source)
    if (message.type === "subscribe") subscribe(message)
    else if (message.type === "unsubscribe") leave(idOf({ view: message.view, key: message.key ?? undefined }))
    else if (message.type === "refresh_auth") await refresh(message.token)
  }

  subject.connections++
  endWithToken()
  socket.on("message", (data, isBinary) => {
    // `ws` delivers a text message as one buffer.
    if (!isBinary && Buffer.isBuffer(data)) receive(data.toString("utf8")).catch(fail)
    else fail(new StreamFault("invalid-message", "The message isn't text."))
  })
  socket.on("close", () => {
    clearTimeout(ending)
    for (const id of leaves.keys()) leave(id)
    subject.connections--
  })
  return outbox
}
