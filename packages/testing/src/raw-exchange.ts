import { once } from "node:events"
import { connect } from "node:net"

/** Writes bytes on a connection of its own; gives everything that comes back until the other side closes it. */
export const rawExchange = async (port: number, bytes: string | Uint8Array): Promise<string> => {
  let received = ""
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
  socket.on("error", () => {}).on("data", (chunk: Buffer) => (received += chunk.toString()))
  await once(socket, "close")
  return received
}
