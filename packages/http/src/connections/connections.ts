import type { Socket } from "node:net"
import type { Bounds } from "./bounds.ts"
import { addressBucket, type ClientAddress } from "../client-address.ts"
import { type Client, type Connection, createClients, heaviest } from "./clients.ts"
import type { Exchange } from "../exchange.ts"
import type { Outgoing } from "../outgoing.ts"
import { hasBody } from "../requests/body.ts"
import { watchSendQueues } from "./send-queues.ts"

/** The bound that a client was cut off by. */
export type CutReason = keyof Bounds

// A client that sends more requests than this ahead of their responses is cut off. Browsers and nearly all libraries send none.
const mostAhead = 16
// The rest is for callers with an account: others can't take it from them, however many addresses they have.
const shareWithoutAccount = 0.75

const isIdle = ({ newest }: Connection): boolean => newest === undefined || newest.outgoing.writableFinished

/** Whether the connection ends with this response: what comes after its request isn't served. */
const isLast = (outgoing: Outgoing): boolean => !outgoing.shouldKeepAlive

// Waits for the client's body, and for nothing of ours.
const isReceiving = ({ newest, waiting }: Connection): boolean =>
  newest !== undefined && waiting === 0 && !newest.incoming.complete && !newest.outgoing.headersSent

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
  const clients = createClients()

  const release = (outgoing: Outgoing): void => {
    const connection = open.get(outgoing.req.socket)
    if (connection === undefined) return
    clients.charge(connection.holder, { held: -connection.held })
    connection.holder = connection.client
    connection.held = 0
    clearTimeout(connection.deadline)
  }

  const move = (connection: Connection, client: Client): void => {
    clients.charge(client, { connections: 1, waiting: connection.waiting })
    clients.charge(connection.client, { connections: -1, waiting: -connection.waiting })
    connection.client = client
  }

  const forget = (connection: Connection): void => {
    if (!open.delete(connection.socket)) return
    clients.charge(connection.holder, { held: -connection.held })
    clients.charge(connection.client, { connections: -1, waiting: -connection.waiting })
    clearTimeout(connection.deadline)
  }

  const cut = (connection: Connection | undefined, reason: CutReason): void => {
    if (connection === undefined) return
    forget(connection)
    onCut(reason)
    // A reset also drops what the kernel holds. A client that is idle may still be reading its last response.
    if (reason === "connections") connection.socket.destroy()
    else connection.socket.resetAndDestroy()
  }

  const cutHolders = (isOver: () => boolean, among: (client: Client) => boolean): void => {
    while (isOver()) {
      const holding = [...open.values()].filter(({ held, holder }) => held > 0 && among(holder))
      cut(
        heaviest(
          holding,
          ({ holder }) => holder.held,
          ({ held }) => held,
        ),
        "heldBytes",
      )
    }
  }

  const hold = (outgoing: Outgoing, bytes: number): void => {
    const connection = open.get(outgoing.req.socket)
    if (connection === undefined) return
    const { account } = outgoing
    const holder = account === undefined ? connection.client : clients.named(`account ${account}`, true)
    if (holder !== connection.holder) release(outgoing)
    connection.holder = holder
    connection.held += bytes
    clients.charge(holder, { held: bytes })
    const { total } = clients
    cutHolders(
      () => total.heldWithoutAccount > bounds.heldBytes * shareWithoutAccount,
      ({ hasAccount }) => !hasAccount,
    )
    cutHolders(
      () => total.held > bounds.heldBytes,
      () => true,
    )
  }

  const queues = watchSendQueues(bounds, open, (connection) => cut(connection, "heldBytes"))

  const wait = (connection: Connection, before: Outgoing, exchange: Exchange): void => {
    const count = (by: 1 | -1): void => {
      connection.waiting += by
      clients.charge(connection.client, { waiting: by })
    }
    count(1)
    if (connection.waiting > mostAhead) return cut(connection, "waitingRequests")
    // Not at once: others get their turn between two requests of one client.
    const next = () =>
      setImmediate(() => {
        if (!open.has(connection.socket) || isLast(before)) return
        count(-1)
        begin(exchange)
      })
    before.once("close", next)
    if (clients.total.waiting <= bounds.waitingRequests) return
    cut(
      heaviest(
        open.values(),
        ({ client }) => client.waiting,
        ({ waiting }) => waiting,
      ),
      "waitingRequests",
    )
  }

  return {
    opened: (socket: Socket): void => {
      const { remoteAddress, remotePort } = socket
      const isProxied = clientAddress.isProxy(remoteAddress)
      const client = clients.named(
        isProxied ? `${remoteAddress} ${remotePort}` : addressBucket(clientAddress.of(remoteAddress)),
      )
      const connection: Connection = {
        socket,
        isProxied,
        client,
        holder: client,
        newest: undefined,
        waiting: 0,
        held: 0,
        deadline: undefined,
        sent: 0,
        acknowledged: 0,
        queued: 0,
      }
      clients.charge(client, { connections: 1 })
      open.set(socket, connection)
      socket.once("close", () => forget(connection))
      if (open.size <= bounds.connections) return
      // The connection that was opened just now is idle too.
      const dispensable = [...open.values()].filter((one) => isIdle(one) || isReceiving(one))
      cut(
        heaviest(
          dispensable,
          (one) => one.client.connections,
          (one) => Number(isIdle(one)),
        ),
        "connections",
      )
    },

    /** A request's head was read. */
    arrived: (exchange: Exchange): void => {
      const { socket } = exchange.incoming
      const connection = open.get(socket)
      // More of what came with the bytes for which the client was cut off.
      if (connection === undefined) return
      const forwardedFor = exchange.incoming.headers["x-forwarded-for"]
      if (connection.isProxied && forwardedFor !== undefined) {
        move(connection, clients.named(addressBucket(clientAddress.of(socket.remoteAddress, String(forwardedFor)))))
      }
      const before = connection.newest?.outgoing
      connection.newest = exchange
      // Node's parser drops what came with such a request: what it reads next may be in the middle of a body.
      if (exchange.incoming.headers.upgrade !== undefined) exchange.outgoing.shouldKeepAlive = false
      if (before !== undefined && !before.writableFinished) wait(connection, before, exchange)
      else if (before !== undefined && isLast(before)) return
      else if (!hasBody(exchange)) begin(exchange)
      // What came with the head is parsed by then, and nearly every body comes with it; what was no HTTP has its answer.
      else setImmediate(() => open.has(socket) && socket.writable && begin(exchange))
    },

    /** A response was made: the kernel has taken it, or its client has not taken all of it yet. */
    ended: (outgoing: Outgoing): void => {
      const { socket } = outgoing.req
      const connection = open.get(socket)
      if (connection === undefined) return
      queues.sent(connection)
      const bytes = outgoing.writableLength
      if (bytes === 0) return
      hold(outgoing, bytes)
      if (!open.has(socket)) return
      const patienceMs = bounds.answerMs + (bytes / bounds.bytesPerSecond) * 1000
      connection.deadline = setTimeout(() => cut(connection, "answerMs"), patienceMs).unref()
      outgoing.once("close", () => release(outgoing))
    },

    /** Whether a response isn't taken whole yet, or a request waits for that. */
    areSending: (): boolean =>
      [...open.values()].some(({ socket, waiting }) => socket.writableLength > 0 || waiting > 0),
    /** Whether requests that have arrived wait, and with them what arrives after them. */
    isHeldBack: (socket: Socket): boolean => (open.get(socket)?.waiting ?? 0) > 0,
    newest: (socket: Socket): Exchange | undefined => open.get(socket)?.newest,
    /** So many more bytes are kept for the client of a request. */
    hold,
    /** Nothing is kept for it any longer. */
    release,
  }
}

export type Connections = ReturnType<typeof createConnections>
