import type { Socket } from "node:net"
import { addressBucket, type ClientAddress } from "../client-address.ts"
import type { Exchange } from "../exchange.ts"
import { hasBody } from "../requests/body.ts"
import type { Bounds } from "../service-fields.ts"

/** The bound that a client was cut off by. */
export type CutReason = keyof Bounds

export type Connection = {
  readonly socket: Socket
  /** The client's address. A trusted proxy's connection counts alone until a request says who the client is. */
  client: string
  /** The request that was read last, and the one that began last. */
  newest: Exchange | undefined
  serving: Exchange | undefined
  /** Requests that have not begun. */
  waiting: number
  /** Bytes of a body that isn't complete. */
  received: number
}

// A client that sends more requests than this ahead of their responses is cut off. Browsers and nearly all libraries send none.
const mostAhead = 16
// The rest is for callers with an account: others can't take it from them, however many addresses they have.
const shareWithoutAccount = 0.75

const isIdle = ({ newest }: Connection): boolean => newest === undefined || newest.outgoing.writableFinished

// Waits for the client's body, and for nothing of ours.
const isReceiving = ({ newest, waiting }: Connection): boolean =>
  newest !== undefined && waiting === 0 && !newest.incoming.complete && !newest.outgoing.headersSent

const held = ({ socket, received }: Connection): number => received + socket.writableLength
const accountOf = ({ serving }: Connection): string | undefined => serving?.context?.get("account")
const clientOf = ({ client }: Connection): string => client
const holderOf = (one: Connection): string => {
  const account = accountOf(one)
  return account === undefined ? one.client : `account ${account}`
}

/**
 * Keeps the connections of a server within bounds. Past a bound the client that has most gives way: an address, or the
 * account of a valid key. Of one connection's requests one is served at a time: the next begins when the response before it
 * has left the process. So a client that never reads holds one response, whatever it asks for.
 * @param begin serves a request; called once for each, in order, except for those of clients that are cut off
 */
export const createConnections = (
  bounds: Bounds,
  clientAddress: ClientAddress,
  begin: (exchange: Exchange) => void,
  onCut: (reason: CutReason) => void,
) => {
  const open = new Map<Socket, Connection>()
  // How many more bytes may be held before all connections are looked at again.
  let margin = 0

  const sum = (weigh: (one: Connection) => number): number => {
    let all = 0
    for (const one of open.values()) all += weigh(one)
    return all
  }

  const cut = ({ socket }: Connection, reason: CutReason): void => {
    open.delete(socket)
    onCut(reason)
    if (reason === "waitingRequests") pauseOthers()
    // A reset also drops what the kernel holds. A client that is idle may still be reading its last response.
    if (reason === "connections") socket.destroy()
    else socket.resetAndDestroy()
  }

  /**
   * Lets nobody else send until the connection that is cut off is gone. Node keeps what the parser read of it until then, and many
   * such clients at once would fill the memory.
   */
  const pauseOthers = (): void => {
    const others = [...open.keys()].filter((socket) => !socket.isPaused())
    for (const socket of others) socket.pause()
    setImmediate(() => setImmediate(() => others.forEach((socket) => socket.resume())))
  }

  /** Cuts off a connection of the client that has most in all, the one that has most. Returns false if nobody has anything. */
  const cutHeaviest = (reason: CutReason, weigh: (one: Connection) => number, name = clientOf): boolean => {
    const sums = new Map<string, number>()
    for (const one of open.values()) sums.set(name(one), (sums.get(name(one)) ?? 0) + weigh(one))
    let heaviest: { readonly one: Connection; readonly inAll: number; readonly own: number } | undefined
    for (const one of open.values()) {
      const own = weigh(one)
      const inAll = sums.get(name(one)) ?? 0
      if (own === 0 || (heaviest && (inAll - heaviest.inAll || own - heaviest.own) <= 0)) continue
      heaviest = { one, inAll, own }
    }
    if (heaviest !== undefined) cut(heaviest.one, reason)
    return heaviest !== undefined
  }

  const hold = (bytes: number): void => {
    margin -= bytes
    while (margin < 0) {
      const anonymous = (one: Connection): number => (accountOf(one) === undefined ? held(one) : 0)
      const left = bounds.heldBytes * shareWithoutAccount - sum(anonymous)
      margin = Math.min(left, bounds.heldBytes - sum(held))
      if (margin < 0) cutHeaviest("heldBytes", left < 0 ? anonymous : held, holderOf)
    }
  }

  /** Serves a request, unless its client is cut off meanwhile or its connection ends with the response before it. */
  const serve = (connection: Connection, exchange: Exchange): void => {
    if (!open.has(connection.socket) || !connection.socket.writable) return
    connection.serving = exchange
    begin(exchange)
  }

  const wait = (connection: Connection, before: Exchange, exchange: Exchange): void => {
    connection.waiting++
    if (connection.waiting > mostAhead) return cut(connection, "waitingRequests")
    // Not at once: others get their turn between two requests of one client.
    const next = () => {
      connection.waiting--
      serve(connection, exchange)
    }
    before.outgoing.once("close", () => setImmediate(next))
    const waiting = (one: Connection): number => one.waiting
    if (sum(waiting) > bounds.waitingRequests) cutHeaviest("waitingRequests", waiting)
  }

  return {
    opened: (socket: Socket): void => {
      const { remoteAddress, remotePort } = socket
      const client = clientAddress.isProxy(remoteAddress)
        ? `${remoteAddress} ${remotePort}`
        : addressBucket(clientAddress.of(remoteAddress))
      const connection = { socket, client, newest: undefined, serving: undefined, waiting: 0, received: 0 }
      open.set(socket, connection)
      socket.once("close", () => open.delete(socket))
      if (open.size <= bounds.connections) return
      const dispensable = (one: Connection): number =>
        one === connection ? 0 : isIdle(one) ? 2 : isReceiving(one) ? 1 : 0
      if (!cutHeaviest("connections", dispensable)) cut(connection, "connections")
    },

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
      const before = connection.newest
      connection.newest = exchange
      // Node's parser drops what came with such a request: what it reads next may be in the middle of a body.
      if (headers.upgrade !== undefined) exchange.outgoing.setHeader("connection", "close")
      if (before !== undefined && !before.outgoing.writableFinished) wait(connection, before, exchange)
      else if (!hasBody(exchange)) serve(connection, exchange)
      // What came with the head is parsed by then, and nearly every body comes with it; what was no HTTP has its answer.
      else setImmediate(serve, connection, exchange)
    },

    /** A response was made: the kernel has taken it, or its client has not taken all of it yet. */
    answered: ({ incoming: { socket }, outgoing }: Exchange): void => {
      const connection = open.get(socket)
      const bytes = outgoing.writableLength
      if (connection === undefined || bytes === 0) return
      hold(bytes)
      if (!open.has(socket)) return
      const patienceMs = bounds.answerMs + (bytes / bounds.bytesPerSecond) * 1000
      const deadline = setTimeout(cut, patienceMs, connection, "answerMs").unref()
      outgoing.once("close", () => clearTimeout(deadline))
    },

    /** So many more bytes of an unfinished body are kept, or fewer. */
    hold: ({ incoming: { socket } }: Exchange, bytes: number): void => {
      const connection = open.get(socket)
      if (connection === undefined) return
      connection.received += bytes
      hold(bytes)
    },

    /** Responses that haven't begun tell their clients that the connection ends with them. */
    drain: (): void => {
      for (const { serving } of open.values())
        if (serving?.outgoing.headersSent === false) serving.outgoing.setHeader("connection", "close")
    },
    /** Whether a response isn't taken whole yet, or a request waits for that. */
    areSending: (): boolean => sum(({ socket, waiting }) => socket.writableLength + waiting) > 0,
    get: (socket: Socket): Readonly<Connection> | undefined => open.get(socket),
  }
}

export type Connections = ReturnType<typeof createConnections>
