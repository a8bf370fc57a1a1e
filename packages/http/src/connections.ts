import type { Socket } from "node:net"
import type { Bounds } from "./bounds.ts"
import { createIntake, type Intake } from "./intake.ts"
import type { Exchange } from "./exchange.ts"
import type { Outgoing } from "./outgoing.ts"

/** Which bound a client was cut off by. */
export type CutReason = keyof Bounds

type Connection = {
  /** Whose request was read last. */
  newest: Exchange | undefined
  /** Requests of this connection that have not begun. */
  waiting: number
  held: number
  deadline: NodeJS.Timeout | undefined
  readonly intake: Intake
}

// While this many wait, no more of what the client sends is read.
const readAhead = 16

/**
 * Keeps the connections of a server within bounds. Of one connection's requests one is served at a time: the next begins
 * when the answer before it has left the process. So a client that never reads holds one answer, whatever it asks for.
 * @param begin serves a request; called once for each, in order, but for those of clients that are cut off
 */
export const createConnections = (
  bounds: Bounds,
  begin: (exchange: Exchange) => void,
  onCut: (reason: CutReason) => void,
) => {
  const open = new Map<Socket, Connection>()
  // In the order in which they began to hold something.
  const holding = new Map<Socket, Connection>()
  let held = 0
  let waiting = 0

  const release = (socket: Socket): void => {
    const connection = holding.get(socket)
    if (connection === undefined) return
    holding.delete(socket)
    held -= connection.held
    connection.held = 0
    clearTimeout(connection.deadline)
  }

  const forget = (socket: Socket): void => {
    waiting -= open.get(socket)?.waiting ?? 0
    release(socket)
    open.delete(socket)
  }

  const cut = (socket: Socket, reason: CutReason): void => {
    forget(socket)
    onCut(reason)
    socket.destroy()
  }

  const hold = (socket: Socket, bytes: number): void => {
    const connection = open.get(socket)
    if (connection === undefined) return
    holding.set(socket, connection)
    connection.held += bytes
    held += bytes
    for (const [slowest] of holding) {
      if (held <= bounds.heldBytes) break
      cut(slowest, "heldBytes")
    }
  }

  const isIdle = ({ newest }: Connection): boolean => newest === undefined || newest.outgoing.writableFinished

  const wait = (socket: Socket, connection: Connection, before: Outgoing, exchange: Exchange): void => {
    connection.waiting++
    waiting++
    // Not at once: others get their turn between two requests of one client.
    const next = () =>
      setImmediate(() => {
        if (!open.has(socket)) return
        connection.waiting--
        waiting--
        begin(exchange)
        connection.intake.goOn()
      })
    before.once("close", next)
    if (waiting <= bounds.waitingRequests) return
    const [longest] = [...open].reduce((most, one) => (one[1].waiting > most[1].waiting ? one : most))
    cut(longest, "waitingRequests")
  }

  return {
    opened: (socket: Socket): void => {
      const intake = createIntake(socket, () => connection.waiting < readAhead && open.has(socket))
      const connection: Connection = { newest: undefined, waiting: 0, held: 0, deadline: undefined, intake }
      open.set(socket, connection)
      socket.once("close", () => forget(socket))
      if (open.size <= bounds.connections) return
      // The one that was opened just now is idle too.
      for (const [other, state] of open) if (isIdle(state)) return cut(other, "connections")
    },

    /** A request's head was read. */
    arrived: (exchange: Exchange): void => {
      const { socket } = exchange.incoming
      const connection = open.get(socket)
      // More of what came with the bytes for which the client was cut off.
      if (connection === undefined) return
      const before = connection.newest?.outgoing
      connection.newest = exchange
      if (before === undefined || before.writableFinished) begin(exchange)
      else wait(socket, connection, before, exchange)
    },

    /** An answer was made, and its client has not taken all of it yet. */
    unsent: (outgoing: Outgoing): void => {
      const { socket } = outgoing.req
      const bytes = outgoing.writableLength
      hold(socket, bytes)
      const connection = holding.get(socket)
      if (connection === undefined) return
      const patienceMs = bounds.answerMs + (bytes / bounds.bytesPerSecond) * 1000
      connection.deadline = setTimeout(() => cut(socket, "answerMs"), patienceMs).unref()
      outgoing.once("close", () => release(socket))
    },

    newest: (socket: Socket): Exchange | undefined => open.get(socket)?.newest,
    /** So many more bytes are kept for a client. */
    hold,
    /** Nothing is kept for it any more. */
    release,
  }
}

export type Connections = ReturnType<typeof createConnections>
