import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer } from "node:net"

// Below what systems take outgoing connections' ports from (32768 and up on Linux, 49152 elsewhere): a port from there
// may be in use by anybody's connection a moment after it was found free, and a server that restarts finds it gone.
const lowest = 20_000
const count = 12_000
let next = Math.floor(Math.random() * count)

/**
 * A loopback port that nothing listens on now, and that no other call of this function is given, in any process, as long
 * as this one lives: its UDP port of the same number is taken as the mark of that. Throws when none is left.
 */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < count; tries += 1) {
    const port = lowest + next
    next = (next + 1) % count
    if (!(await reserve(port))) continue
    if (await canListen(port)) return port
  }
  throw new Error(`no port from ${lowest} to ${lowest + count - 1} is free`)
}

/** Keeps a UDP port until this process ends, without keeping the process; false where somebody has it. */
const reserve = async (port: number): Promise<boolean> => {
  const socket = createSocket("udp4").unref()
  try {
    const bound = once(socket, "listening")
    socket.bind({ port, address: "127.0.0.1", exclusive: true })
    await bound
    return true
  } catch {
    socket.close()
    return false
  }
}

const canListen = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    const listening = once(server, "listening")
    server.listen({ port, host: "127.0.0.1", exclusive: true })
    await listening
    await once(server.close(), "close")
    return true
  } catch {
    return false
  }
}
