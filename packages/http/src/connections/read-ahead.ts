import type { Socket } from "node:net"

// More than nearly every request has, and few enough of the shortest ones.
const pieceBytes = 4096

/**
 * Hands a connection's further bytes to Node's parser in pieces, and none while `isReady` is false. Left alone, the parser makes
 * objects for each of the thousands of requests that one read can bring, before any is answered, and an error for each when
 * their client is cut off.
 * @returns goes on once `isReady` is true again
 */
export const limitReadAhead = (socket: Socket, isReady: () => boolean): (() => void) => {
  // The parser's own listener, which Node adds before it emits "connection".
  const [parse] = socket.listeners("data")
  let isHeldBack = false
  const goOn = (): void => {
    if (!isHeldBack || !isReady()) return
    isHeldBack = false
    socket.resume()
  }
  socket.removeAllListeners("data").on("data", (bytes: Buffer<ArrayBuffer>) => {
    const length = isReady() ? pieceBytes : 0
    if (length > 0) parse?.call(socket, bytes.subarray(0, length))
    if (bytes.length <= length) return
    // Node pauses a client that doesn't take its responses, and resumes it itself. Its parser must get nothing meanwhile.
    isHeldBack = !socket.isPaused()
    socket.pause()
    socket.unshift(bytes.subarray(length))
    goOn()
  })
  return goOn
}
