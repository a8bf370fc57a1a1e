import { STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Connections } from "./connections/connections.ts"

const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "the URL and the headers are over 16 KiB",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "the body's chunk extensions are over 16 KiB",
  ERR_HTTP_REQUEST_TIMEOUT: "the request did not arrive in time",
}

// A whole request line whose method isn't one that Node's parser knows.
const unknownMethod = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/

const lingerMs = 1000

const send = async (socket: Socket, answer: Response): Promise<void> => {
  const body = await answer.text()
  const lines = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}`,
    ...[...answer.headers].map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ]
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`)
  // Closed at once, with bytes of the client's unread, the connection would be reset, and the answer with it.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/**
 * Answers what Node's parser refuses, for a server's `clientError`: it never becomes a request, and Node's own answer has
 * no body and none of the server's headers. A request before it that is still being served, or whose body is the broken part
 * but is answered already, gets its answer and no other, and the connection ends with it.
 * @param answerTo makes the answer, for this reason: a 405 if only the method is unknown, otherwise a 400
 * @returns takes the parser's error, or none for a CONNECT
 */
export const createUnparsedAnswer = (
  connections: Pick<Connections, "get">,
  answerTo: (reason: string, status: 400 | 405) => Response,
) => {
  // The parser fails again on whatever else arrives.
  const ended = new WeakSet<Socket>()
  return (error: (NodeJS.ErrnoException & { rawPacket?: Buffer }) | undefined, socket: Socket): void => {
    const { newest, waiting } = connections.get(socket) ?? {}
    const isLate = error?.code === "ERR_HTTP_REQUEST_TIMEOUT"
    // What this process has yet to look at isn't late.
    if (ended.has(socket) || (isLate && waiting && waiting.size > 0)) return
    // Browsers open connections ahead of requests. One that is on its way would take a response for its own.
    if (isLate && socket.bytesRead === 0) {
      return void setImmediate(setImmediate, () => socket.bytesRead === 0 && socket.destroySoon())
    }
    ended.add(socket)
    const { incoming, outgoing } = newest ?? {}
    // An answer without a socket waits for the one before it, and ours would be taken for that one.
    const answered =
      outgoing !== undefined &&
      (incoming?.complete === true ? !outgoing.writableFinished : outgoing.headersSent || outgoing.socket === null)
    if (answered) {
      if (!outgoing.headersSent) outgoing.setHeader("connection", "close")
      if (outgoing.writableFinished) socket.destroySoon()
      else outgoing.once("finish", () => socket.destroySoon())
      return
    }
    if (!socket.writable || error?.code === "ECONNRESET") return void socket.destroy()
    const isMethod =
      error === undefined ||
      (error.code === "HPE_INVALID_METHOD" && unknownMethod.test(error.rawPacket?.toString("latin1") ?? ""))
    const reason = isMethod ? "an unknown method" : (reasons[error.code ?? ""] ?? "not valid HTTP/1.1")
    void send(socket, answerTo(reason, isMethod ? 405 : 400))
  }
}
