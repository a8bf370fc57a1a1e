import type { WebSocket } from "ws"

/** Frames go to the socket while fewer bytes than this wait in it. */
const highWater = 65_536

/**
 * Queues frames for a client. A snapshot's frames are made only as fast as the socket takes them.
 *
 * @param maySend asked before a frame of so many bytes is sent; if it says no, nothing more is sent
 */
export const createOutbox = (socket: WebSocket, maySend: (bytes: number) => boolean) => {
  const queue: (string | Iterator<string>)[] = []
  let queued = 0

  const nextFrame = (): string | undefined => {
    const [first] = queue
    if (typeof first === "object") {
      const { done, value } = first.next()
      if (done !== true) return value
    }
    queue.shift()
    if (typeof first !== "string") return first === undefined ? undefined : nextFrame()
    queued -= first.length
    return first
  }

  const pump = (): void => {
    while (socket.readyState === socket.OPEN && socket.bufferedAmount < highWater) {
      const frame = nextFrame()
      if (frame === undefined || !maySend(Buffer.byteLength(frame))) return
      socket.send(frame, pump)
    }
  }

  return {
    /** Queues a frame, or all frames of an iterator. */
    send: (frame: string | Iterator<string>): void => {
      if (typeof frame === "string") queued += frame.length
      queue.push(frame)
      pump()
    },
    /** Bytes that the client hasn't received yet. */
    held: (): number => queued + socket.bufferedAmount,
  }
}

export type Outbox = ReturnType<typeof createOutbox>
