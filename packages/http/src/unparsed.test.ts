import { once } from "node:events"
import { type AddressInfo, connect, createServer, Socket } from "node:net"
import { expect, onTestFinished, test, vi } from "vitest"
import type { Exchange } from "./index.ts"
import { createUnparsedAnswer } from "./unparsed.ts"

const late = Object.assign(new Error("Request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" })

test("time in this process's own queue doesn't count as a late request", () => {
  const socket = Object.defineProperty(
    new Socket().on("error", () => {}),
    "bytesRead",
    { value: 1 },
  )
  const state = { socket, client: "", newest: undefined, serving: undefined, received: 0 }
  const one: unknown = {}
  for (const waiting of [new Set([one as Exchange]), new Set<Exchange>()]) {
    const answerTo = vi.fn<() => Response>(() => new Response("late"))
    createUnparsedAnswer({ get: () => ({ ...state, waiting }) }, answerTo)(late, socket)
    expect(answerTo).toHaveBeenCalledTimes(waiting.size > 0 ? 0 : 1)
  }
  socket.destroy()
})

test("a connection on which nothing came in time is closed without a response, unless a request has arrived meanwhile", async () => {
  const listening = createServer().listen(0, "127.0.0.1")
  onTestFinished(() => void listening.close())
  await once(listening, "listening")
  for (const text of ["", "GET / HTTP/1.1\r\n"]) {
    const client = connect((listening.address() as AddressInfo).port, "127.0.0.1")
    const [socket] = (await once(listening, "connection")) as [Socket]
    if (text !== "") await new Promise<void>((sent) => client.write(text, () => sent()))
    socket.resume()
    const answerTo = vi.fn<() => Response>()
    createUnparsedAnswer({ get: () => undefined }, answerTo)(late, socket)
    if (text === "") await once(client.resume(), "close")
    else await once(socket, "data")
    expect([answerTo.mock.calls, client.bytesRead, socket.destroyed]).toEqual([[], 0, text === ""])
    client.destroy()
    socket.destroy()
  }
})
