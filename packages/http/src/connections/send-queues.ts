import { readFile } from "node:fs/promises"
import type { Socket } from "node:net"
import { endianness } from "node:os"
import ipaddr from "ipaddr.js"
import type { Bounds } from "./bounds.ts"
import type { Client, Connection } from "./clients.ts"

const files = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
const lookEveryMs = 250

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0")

// As the kernel writes it: addresses in words of 32 bits, in the machine's byte order.
const keyOf = ({ localPort = 0, remoteAddress = "::", remotePort = 0 }: Socket): string => {
  const bytes = Buffer.from(ipaddr.parse(remoteAddress.replace(/%.*$/, "")).toByteArray())
  if (endianness() === "LE") bytes.swap32()
  return `${hexPort(localPort)} ${bytes.toString("hex").toUpperCase()}:${hexPort(remotePort)}`
}

/** How many bytes the kernel holds for each TCP connection because its other end hasn't acknowledged them. Only Linux tells. */
const readSendQueues = async (): Promise<(socket: Socket) => number> => {
  const queues = new Map<string, number>()
  for (const file of files) {
    const text = await readFile(file, "latin1").catch(() => "")
    for (const line of text.split("\n").slice(1)) {
      const [, local = "", remote = "", , sizes = ""] = line.trimStart().split(" ", 5)
      const bytes = Number.parseInt(sizes, 16)
      if (bytes > 0) queues.set(`${local.slice(-4)} ${remote}`, bytes)
    }
  }
  return (socket) => (queues.size === 0 ? 0 : (queues.get(keyOf(socket)) ?? 0))
}

/**
 * Keeps what the kernel holds for clients that don't read within `heldBytes`. This process can't see it, so it asks the kernel
 * once it has sent that much since it last knew, at most four times a second. While it is too much, clients that take next to
 * nothing are cut off, the one for whom most is held first.
 * @param read asks the kernel how many bytes it holds for a connection
 */
export const watchSendQueues = (
  { heldBytes, bytesPerSecond }: Bounds,
  open: ReadonlyMap<Socket, Connection>,
  cut: (connection: Connection) => void,
  read = readSendQueues,
) => {
  /** Bytes that the kernel may still hold. */
  let unacknowledged = 0
  let looking = false

  const look = async (): Promise<void> => {
    looking = true
    const before = unacknowledged
    const queueOf = await read()
    let queuedInAll = 0
    const sums = new Map<Client, number>()
    const slow: { connection: Connection; queued: number }[] = []
    for (const connection of open.values()) {
      const { socket, client } = connection
      const queued = queueOf(socket)
      queuedInAll += queued
      const acknowledged = socket.bytesWritten - socket.writableLength - queued
      const taken = acknowledged - connection.acknowledged
      // Of what was queued at the last look: a response that is under way just now makes nobody slow.
      const isSlow = queued > 0 && taken < Math.min(connection.queued, (bytesPerSecond * lookEveryMs) / 1000)
      connection.acknowledged = acknowledged
      connection.queued = queued
      if (!isSlow) continue
      slow.push({ connection, queued })
      sums.set(client, (sums.get(client) ?? 0) + queued)
    }
    const sumOf = ({ client }: Connection): number => sums.get(client) ?? 0
    slow.sort((a, b) => sumOf(b.connection) - sumOf(a.connection) || b.queued - a.queued)
    // Part of what was sent while the kernel was asked is in its queues too: nobody is cut off for that.
    const sentMeanwhile = unacknowledged - before
    for (const { connection, queued } of slow) {
      if (queuedInAll <= heldBytes) break
      queuedInAll -= queued
      cut(connection)
    }
    unacknowledged = queuedInAll + sentMeanwhile
    const again = (): void => {
      looking = false
      lookIfNeeded()
    }
    setTimeout(again, lookEveryMs).unref()
  }

  const lookIfNeeded = (): void => {
    if (unacknowledged > heldBytes && !looking) void look()
  }

  return {
    /** A response was handed to the kernel, as far as it took it. */
    sent: (connection: Connection): void => {
      const { bytesWritten } = connection.socket
      unacknowledged += bytesWritten - connection.sent
      connection.sent = bytesWritten
      lookIfNeeded()
    },
  }
}
