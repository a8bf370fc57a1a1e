import type { Socket } from "node:net"
import { afterEach, expect, test, vi } from "vitest"
import { defaultBounds } from "./bounds.ts"
import type { Connection } from "./clients.ts"
import { watchSendQueues } from "./send-queues.ts"

afterEach(() => void vi.useRealTimers())

test("who has taken nothing since the last look is cut off; a response that is under way makes nobody slow", async () => {
  vi.useFakeTimers()
  const open = new Map<Socket, Connection>()
  const queued = new Map<string, number>()
  const connect = (name: string): Connection => {
    const client = { name, hasAccount: false, connections: 1, waiting: 0, held: 0 }
    const socket = { bytesWritten: 0, writableLength: 0 } as Socket
    const connection = { socket, client, sent: 0, acknowledged: 0, queued: 0 } as Connection
    open.set(socket, connection)
    return connection
  }
  const cut: string[] = []
  const queues = watchSendQueues(
    { ...defaultBounds, heldBytes: 1000, bytesPerSecond: 1000 },
    open,
    ({ client, socket }) => {
      cut.push(client.name)
      open.delete(socket)
    },
    async () => (socket) => queued.get(open.get(socket)?.client.name ?? "") ?? 0,
  )
  const send = (connection: Connection, bytes: number, left: number): void => {
    Object.assign(connection.socket, { bytesWritten: connection.socket.bytesWritten + bytes })
    queued.set(connection.client.name, left)
    queues.sent(connection)
  }
  const reader = connect("reader")
  send(reader, 500, 0)
  send(connect("first"), 5000, 5000)
  await vi.advanceTimersByTimeAsync(0)
  expect(cut).toEqual([])
  send(reader, 100, 100)
  send(connect("second"), 4000, 4000)
  await vi.advanceTimersByTimeAsync(250)
  expect(cut).toEqual(["first"])
  queued.set("reader", 0)
  await vi.advanceTimersByTimeAsync(250)
  expect(cut).toEqual(["first", "second"])
})
