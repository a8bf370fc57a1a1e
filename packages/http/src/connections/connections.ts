import type { Socket } from "node:net"
import { longestDelayMs } from "@svc/common/longest-delay"
import { addressBucket, bucketNetwork, type ClientAddress } from "../client-address.ts"
import type { Exchange } from "../request-context.ts"
import { endAfter, hasBody, takeBody } from "../requests/body.ts"
import type { Bounds } from "../service-fields.ts"
import { createTurns } from "./turns.ts"

/** The bound that a client was cut off by. */
export type CutReason = keyof Bounds | "waitingRequests" | "smallChunks" | "streams"

export type Connection = {
  readonly socket: Socket
  /** The client's address. A trusted proxy's connection counts alone until a request says who the client is. */
  client: string
  /** The request that was read last, and the one that began last. */
  newest: Exchange | undefined
  serving: Exchange | undefined
  /** The one whose response doesn't end by itself. */
  stream?: Exchange
  /** Requests that were read after the one that is being served. */
  readonly waiting: Set<Exchange>
  /** Bytes of a body that isn't complete. */
  received: number
}

type Weigh = (one: Connection) => number

// A client that sends more requests than this ahead of their responses is cut off. Browsers and nearly all libraries send none.
export const mostAhead = 16
// What Node keeps for a request without its body.
const requestBytes = 4096
// The rest is for callers with an account: others can't take it from them, however many addresses they have.
const shareWithoutAccount = 0.75
// All connections are looked at to find who gives way, so that much of a bound becomes free at a time.
const step = 1 / 64
/** The share of all connections that responses without an end may take. */
const streamShare = 0.5

// Each turn of the event loop accepts one connection.
const acceptedMeanwhile = 32
// To pause all and read all again for each that is cut off would cost more than what it sent.
const mostReadAtOnce = 64
const faultMs = 60_000

// Their bodies mean nothing (RFC 9110 section 9.3.1).
const unread = new Set(["GET", "HEAD"])

const isIdle = ({ newest }: Connection): boolean => newest === undefined || newest.outgoing.writableFinished
const isStream = ({ stream }: Connection): boolean => stream?.outgoing.writableEnded === false

// Waits for its client, and for nothing of ours: for the body, or until the response is taken.
const isClients = ({ newest, serving, waiting }: Connection): boolean =>
  serving?.outgoing.writableEnded === true ||
  (waiting.size === 0 && newest?.incoming.complete === false && !newest.outgoing.headersSent)

// Which connection is closed for another one: the largest first, never 0.
const dispensable = (one: Connection): number => (isIdle(one) || isClients(one) ? 2 : isStream(one) ? 1 : 0)

const bytesOf = ({ incoming }: Exchange): number => requestBytes + incoming.readableLength
const held = ({ socket, received, newest, waiting }: Connection): number => {
  let bytes = received + socket.writableLength + (newest?.incoming.readableLength ?? 0)
  for (const one of waiting) bytes += bytesOf(one)
  return bytes
}
const accountOf = ({ serving }: Connection): string | undefined =>
  serving?.context?.get("isShared") === true ? undefined : serving?.context?.get("account")
const withoutAccount =
  (weigh: Weigh): Weigh =>
  (one) =>
    accountOf(one) === undefined ? weigh(one) : 0

const holderOf = (one: Connection): string => {
  const account = accountOf(one)
  return account === undefined ? one.client : `account ${account}`
}
const networkOf = (one: Connection): string =>
  accountOf(one) === undefined ? bucketNetwork(one.client) : holderOf(one)

/** A connection, those of a client or those of a network, and what they weigh. */
type Group = { weight: number; readonly first: Connection; readonly parts: readonly Group[] }

const groupsBy = (all: readonly Group[], nameOf: (one: Connection) => string): readonly Group[] =>
  [...Map.groupBy(all, ({ first }) => nameOf(first)).values()].flatMap((parts) => {
    const [part] = parts
    return part ? [{ weight: parts.reduce((sum, { weight }) => sum + weight, 0), first: part.first, parts }] : []
  })

/** Takes out the heaviest part of the heaviest part, of equal ones the first. */
const takeHeaviest = (groups: readonly Group[]): Group | undefined => {
  let heaviest: Group | undefined
  for (const group of groups) if (group.weight > (heaviest?.weight ?? 0)) heaviest = group
  if (heaviest === undefined) return undefined
  const taken = takeHeaviest(heaviest.parts) ?? { ...heaviest }
  heaviest.weight -= taken.weight
  return taken
}

/**
 * Keeps the connections of a server within bounds. Past a bound whoever has most gives way: of all networks, the heaviest
 * one's heaviest client, which is an address or the account of a valid key. Of one connection's requests one is served at a
 * time: the next begins when the response before it has left the process. So a client that never reads holds one response,
 * whatever it asks for.
 * @param begin serves a request; called once for each, in order, except for those of clients that are cut off
 * @param isUrgent whether a request begins at once, whatever else waits
 */
export const createConnections = (
  bounds: Bounds,
  clientAddress: ClientAddress,
  begin: (exchange: Exchange) => void,
  isUrgent: (exchange: Exchange) => boolean,
  onCut: (reason: CutReason) => void,
) => {
  const open = new Map<Socket, Connection>()
  let accepted = 0
  const takeTurn = createTurns(() => accepted)
  // How many more bytes may be held before all connections are looked at again.
  let margin = 0
  // In the order in which they will be read again.
  let paused: Connection[] = []
  // How often connections of a network were cut off lately in the middle of what they sent.
  const faults = new Map<string, number>()
  const isBlamed = (one: Connection): boolean => faults.has(networkOf(one))

  const sum = (weigh: Weigh): number => {
    let all = 0
    for (const one of open.values()) all += weigh(one)
    return all
  }

  const cut = (connection: Connection, reason: CutReason): void => {
    const { socket } = connection
    open.delete(socket)
    onCut(reason)
    if (reason === "waitingRequests" || reason === "smallChunks") {
      blame(networkOf(connection))
      pauseOthers()
    }
    // A reset also drops what the kernel holds. A client that is idle may still be reading its last response.
    if (reason === "connections") socket.destroy()
    else socket.resetAndDestroy()
  }

  /**
   * Lets nobody else send until the connection that is cut off is gone, and new ones are accepted. Node keeps what the parser read of
   * it until then, and many such clients at once would fill the memory. Then some are read at a time: first those whose networks
   * weren't cut off for it lately, of these whoever came or asked last.
   */
  const pauseOthers = (): void => {
    const isUnderWay = paused.length > 0
    const known = new Set(paused)
    const others = [...open.values()].filter((one) => known.has(one) || !one.socket.isPaused())
    for (const one of others) if (!known.has(one)) one.socket.pause()
    const { blamed = [], good = [] } = Object.groupBy(others, (one) => (isBlamed(one) ? "blamed" : "good"))
    paused = [...good.toReversed(), ...blamed.toReversed()]
    if (!isUnderWay) setImmediate(setImmediate, readOthers, acceptedMeanwhile, accepted)
  }
  const readOthers = (turns: number, before: number): void => {
    if (turns > 0 && accepted > before) return void setImmediate(readOthers, turns - 1, accepted)
    for (const { socket } of paused.splice(0, mostReadAtOnce)) socket.resume()
    if (paused.length > 0) setImmediate(readOthers, 0, accepted)
  }
  /** A new one isn't read before those that wait are. Only now is its socket being read. */
  const pauseNew = (connection: Connection): void => {
    if (paused.length === 0) return
    connection.socket.pause()
    if (isBlamed(connection)) paused.push(connection)
    else paused.unshift(connection)
  }
  const blame = (name: string): void => {
    faults.set(name, (faults.get(name) ?? 0) + 1)
    setTimeout(() => {
      const left = (faults.get(name) ?? 0) - 1
      if (left > 0) faults.set(name, left)
      else faults.delete(name)
    }, faultMs).unref()
  }

  /** Cuts off connections of whoever has most until they weighed so much. Returns what they weighed. */
  const giveWay = (reason: CutReason, wanted: number, weigh: Weigh): number => {
    const all = [...open.values()].map((first) => ({ weight: weigh(first), first, parts: [] }))
    const networks = groupsBy(groupsBy(all, holderOf), networkOf)
    let given = 0
    while (given < wanted) {
      const taken = takeHeaviest(networks)
      if (taken === undefined) break
      given += taken.weight
      cut(taken.first, reason)
    }
    return given
  }

  /** Cuts off whoever has most until all together have no more than that. Returns how much is left. */
  const keepWithin = (reason: CutReason, most: number, weigh: Weigh): number => {
    const anonymous = withoutAccount(weigh)
    let leftWithoutAccount = most * shareWithoutAccount - sum(anonymous)
    let left = most - sum(weigh)
    if (leftWithoutAccount < 0) {
      const given = giveWay(reason, Math.max(-leftWithoutAccount, most * step), anonymous)
      leftWithoutAccount += given
      left += given
    }
    if (left < 0) left += giveWay(reason, Math.max(-left, most * step), weigh)
    return Math.min(left, leftWithoutAccount)
  }

  const hold = (bytes: number): void => {
    margin -= bytes
    if (margin < 0) margin = keepWithin("heldBytes", bounds.heldBytes, held)
  }

  /** Serves a request, unless its client is cut off meanwhile or its connection ends with the response before it. */
  const serve = (connection: Connection, exchange: Exchange): void => {
    const next = (): void => {
      if (!open.has(connection.socket) || !connection.socket.writable) return
      connection.serving = exchange
      begin(exchange)
    }
    if (isUrgent(exchange)) next()
    else takeTurn(connection.client, next)
  }

  /** Serves a request once what came with its head was read. */
  const receive = (connection: Connection, exchange: Exchange): void => {
    const { incoming, body } = exchange
    if (body === undefined || incoming.complete || !unread.has(incoming.method ?? ""))
      return serve(connection, exchange)
    // The response may outlive the body, which nobody would read.
    body.discard().then(
      () => serve(connection, exchange),
      () => {},
    )
  }

  const wait = (connection: Connection, before: Exchange, exchange: Exchange): void => {
    const { waiting } = connection
    waiting.add(exchange)
    // A response without an end is the last of its connection.
    if (waiting.size > mostAhead || isStream(connection)) return cut(connection, "waitingRequests")
    hold(requestBytes)
    before.outgoing.once("close", () => {
      waiting.delete(exchange)
      receive(connection, exchange)
    })
  }

  // Nearly every body comes with the head. A chunked one is taken from the start, whatever its chunks are.
  const takeRest = (exchange: Exchange): void => {
    const { incoming } = exchange
    hold(incoming.readableLength)
    if (!incoming.complete) exchange.body ??= takeBody(exchange)
  }

  return {
    opened: (socket: Socket): void => {
      const { remoteAddress, remotePort } = socket
      const client = clientAddress.isProxy(remoteAddress)
        ? `${remoteAddress} ${remotePort}`
        : addressBucket(clientAddress.of(remoteAddress))
      const waiting = new Set<Exchange>()
      const connection = { socket, client, newest: undefined, serving: undefined, waiting, received: 0 }
      open.set(socket, connection)
      socket.once("close", () => open.delete(socket))
      accepted++
      if (paused.length > 0) process.nextTick(pauseNew, connection)
      if (open.size <= bounds.connections) return
      const others = (one: Connection): number => (one === connection ? 0 : dispensable(one))
      if (giveWay("connections", Math.max(1, bounds.connections * step), others) === 0) cut(connection, "connections")
    },

    /** How many there were so far. */
    accepted: (): number => accepted,

    /** A request's head was read. */
    arrived: (exchange: Exchange): void => {
      const { socket, headers } = exchange.incoming
      const connection = open.get(socket)
      // More of what came with the bytes for which the client was cut off.
      if (connection === undefined) return
      const { "x-forwarded-for": forwardedFor } = headers
      if (forwardedFor !== undefined && clientAddress.isProxy(socket.remoteAddress)) {
        connection.client = addressBucket(clientAddress.of(socket.remoteAddress, forwardedFor))
      }
      // Of equal ones that one gives way whose last request came first.
      open.delete(socket)
      open.set(socket, connection)
      const before = connection.newest
      connection.newest = exchange
      const isBodied = hasBody(exchange)
      if (headers["transfer-encoding"] !== undefined) exchange.body = takeBody(exchange)
      // Node's parser drops what came with such a request: what it reads next may be in the middle of a body.
      if (headers.upgrade !== undefined) exchange.outgoing.setHeader("connection", "close")
      const isFirst = before === undefined || before.outgoing.writableFinished
      if (!isFirst) wait(connection, before, exchange)
      else if (!isBodied) serve(connection, exchange)
      if (!isBodied) return
      // What came with the head is parsed by then; what was no HTTP has its answer.
      setImmediate(() => {
        takeRest(exchange)
        if (isFirst) receive(connection, exchange)
      })
    },

    /** A response was made: the kernel has taken it, or its client has not taken all of it yet. */
    answered: ({ incoming: { socket }, outgoing }: Exchange): void => {
      const connection = open.get(socket)
      const bytes = outgoing.writableLength
      if (connection === undefined || bytes === 0) return
      hold(bytes)
      if (!open.has(socket)) return
      const patienceMs = bounds.answerMs + (bytes / bounds.bytesPerSecond) * 1000
      const deadline = setTimeout(cut, Math.min(patienceMs, longestDelayMs), connection, "answerMs").unref()
      outgoing.once("close", () => clearTimeout(deadline))
    },

    /** So many more bytes are kept for a client, or fewer. */
    hold: ({ incoming: { socket } }: Exchange, bytes: number): void => {
      const connection = open.get(socket)
      if (connection === undefined) return
      connection.received += bytes
      hold(bytes)
    },

    /** A response without an end begins. */
    stream: (exchange: Exchange): void => {
      const connection = open.get(exchange.incoming.socket)
      if (connection === undefined) return
      connection.stream = exchange
      if (connection.waiting.size > 0) return cut(connection, "waitingRequests")
      keepWithin("streams", bounds.connections * streamShare, (one) => (isStream(one) ? 1 : 0))
    },

    cutOff: ({ incoming: { socket } }: Exchange, reason: CutReason): void => {
      const connection = open.get(socket)
      if (connection !== undefined) cut(connection, reason)
    },

    /** Responses that haven't begun tell their clients that the connection ends with them. */
    drain: (): void => {
      for (const { serving } of open.values()) if (serving !== undefined) endAfter(serving)
    },
    /** Whether a response isn't taken whole yet, or a request waits for that. */
    areSending: (): boolean => sum(({ socket, waiting }) => socket.writableLength + waiting.size) > 0,
    get: (socket: Socket): Readonly<Connection> | undefined => open.get(socket),
  }
}

export type Connections = ReturnType<typeof createConnections>
