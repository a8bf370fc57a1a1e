import type { Socket } from "node:net"

// More than nearly every request has, and few enough of the shortest ones.
const pieceBytes = 4096

/**
 * Hands a connection's further bytes to Node's parser in pieces, and none while `isReady` is false. Left alone, the parser makes
 * objects for each of the thousands of requests that one read can bring, before any is answered, and an error for each when
 * their client is cut off.
 * @returns hands on what was kept back
 */
export const limitReadAhead = (socket: Socket, isReady: () => boolean): (() => void) => {
  // The parser's own listener, which Node adds before it emits "connection".
  const [parse] = socket.listeners("data")
  let kept = Buffer.alloc(0)
  let isPaused = false
  const handOn = (): void => {
    while (kept.length > 0 && isReady()) {
      const piece = kept.subarray(0, pieceBytes)
      kept = kept.subarray(pieceBytes)
      parse?.call(socket, piece)
    }
    if (kept.length > 0) socket.pause()
    else if (isPaused) socket.resume()
    isPaused = kept.length > 0
  }
  socket.removeAllListeners("data").on("data", (bytes: Buffer<ArrayBuffer>) => {
    // A request that reads its body resumes the socket, whatever is kept back.
    kept = kept.length === 0 ? bytes : Buffer.concat([kept, bytes])
    handOn()
  })
  return handOn
}
