import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { writeExactly } from "@svc/common/exact-json"
import { createLocalChain } from "./chain.ts"
import { RpcError } from "./errors.ts"
import { parseJson } from "./json.ts"
import { errorAnswer } from "./rpc.ts"

const maxBodyBytes = 1_048_576
const bodyDeadlineMs = 10_000
const closeDeadlineMs = 2_000

// Browsers may call a development node from any page, as they may a validator.
const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
}

type Answer = { status: number; body?: string; type?: string; headers?: Record<string, string> }

const plain = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body,
  type: "text/plain; charset=utf-8",
  headers,
})

/** The request's body, or undefined when it is longer than a node takes. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  // Left early, the request must stay whole: with it would go the connection for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const send = (response: ServerResponse, { status, body, type = "application/json", headers }: Answer): void => {
  response.writeHead(status, { ...cors, ...headers, ...(body === undefined ? {} : { "content-type": type }) })
  response.end(body)
}

/**
 * A local chain behind HTTP: POST is JSON-RPC, `GET /health` says "ok". Port 0 takes a free one. `close` lets requests
 * in hand finish, for two seconds at most. Rejects when it cannot listen.
 */
export const startLocalChain = async (settings: { host: string; port: number; now: () => number }) => {
  const { host, port, now } = settings
  const chain = createLocalChain({ now })

  const rpc = (body: Buffer): Answer => {
    let request: unknown
    try {
      request = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body))
    } catch {
      return { status: 200, body: writeExactly(errorAnswer(null, new RpcError("parse", "Parse error"))) }
    }
    const answer = chain.handle(request)
    return answer === undefined ? { status: 204 } : { status: 200, body: writeExactly(answer) }
  }

  const respond = async (request: IncomingMessage): Promise<Answer> => {
    if (request.method === "OPTIONS") return { status: 204 }
    if (request.method === "GET" && request.url === "/health") return plain(200, "ok")
    if (request.method !== "POST") {
      return plain(405, "This is a JSON-RPC endpoint: use POST.\n", { allow: "POST, OPTIONS" })
    }
    if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
      return plain(415, "Content-Type: application/json is required.\n")
    }
    const body = await readBody(request)
    if (body === undefined) {
      return plain(413, `A request holds at most ${maxBodyBytes} bytes.\n`, { connection: "close" })
    }
    return rpc(body)
  }

  const server = createServer({ requestTimeout: bodyDeadlineMs }, (request, response) => {
    respond(request).then(
      (answer) => send(response, answer),
      // The client went away with its body half sent: there is nobody to answer.
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen({ host, port }, () => {
      server.off("error", reject)
      resolve()
    })
  })
  const bound = server.address()
  const boundPort = bound !== null && typeof bound === "object" ? bound.port : port

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`,
    /** Drops what only the newest block has, as validators do that leave a fork; gives how many transactions. */
    rollback: chain.rollback,
    close: async (): Promise<void> => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), closeDeadlineMs)
      await closed
      clearTimeout(cut)
    },
  }
}
