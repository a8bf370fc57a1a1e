import type { Socket } from "node:net"

/** What a connection brings, handed to Node's parser. */
export type Intake = {
  /** Hands on what was kept back, if there is some. */
  readonly goOn: () => void
}

// More than nearly every request has, and few enough of the shortest ones.
const pieceBytes = 4096

/**
 * Stands between a new socket and Node's parser. Left alone, the parser makes a request object for each of a thousand
 * requests that one read brings, before any is answered; so it gets them in pieces, and no more while `ready` says no.
 * Costs some hundredths of what a bare server does for a request.
 */
export const createIntake = (socket: Socket, ready: () => boolean): Intake => {
  // The parser's own listener, which Node adds before it tells of the connection.
  const [parse] = socket.listeners("data")
  let kept: Buffer<ArrayBuffer> | undefined

  const handOn = (bytes: Buffer<ArrayBuffer>): void => {
    let at = 0
    while (at < bytes.length && ready()) parse?.call(socket, bytes.subarray(at, (at += pieceBytes)))
    if (at < bytes.length) {
      kept = bytes.subarray(at)
      socket.pause()
    }
  }
  const take = (bytes: Buffer<ArrayBuffer>): void => {
    // A request that reads its body sets the socket going, whatever is kept back.
    if (kept !== undefined) {
      kept = Buffer.concat([kept, bytes])
      socket.pause()
    } else if (bytes.length <= pieceBytes && ready()) parse?.call(socket, bytes)
    else handOn(bytes)
  }
  socket.removeAllListeners("data").on("data", take)
  return {
    goOn: () => {
      if (kept === undefined || !ready()) return
      const bytes = kept
      kept = undefined
      handOn(bytes)
      // By now it is set to something else where there was too much again.
      if ((kept as Buffer<ArrayBuffer> | undefined) === undefined) socket.resume()
    },
  }
}
