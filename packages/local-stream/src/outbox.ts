import type { WebSocket } from "ws"

/** Until this many bytes wait in the socket, more is given to it. */
const highWater = 65_536

/** Frames on their way to a client, which are made and handed to the socket only as fast as it takes them. */
export const createOutbox = (socket: WebSocket, onBytes: (bytes: number) => void) => {
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
      if (frame === undefined) return
      socket.send(frame, pump)
      onBytes(frame.length)
    }
  }

  return {
    /** Sends a frame, or one after the other that the iterator gives, behind all that was sent before. */
    send: (frame: string | Iterator<string>): void => {
      if (typeof frame === "string") queued += frame.length
      queue.push(frame)
      pump()
    },
    /** Bytes that the client has not taken. */
    held: (): number => queued + socket.bufferedAmount,
  }
}

export type Outbox = ReturnType<typeof createOutbox>
