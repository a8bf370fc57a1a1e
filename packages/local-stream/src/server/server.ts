import { once } from "node:events"
import { createServer, type IncomingMessage, STATUS_CODES } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { closeTo } from "@svc/common/nearest"
import { addressBucket, type Bounds } from "@svc/http"
import type { Runtime } from "@svc/program"
import type { KeySource } from "@svc/session-token"
import { type WebSocket, WebSocketServer } from "ws"
import { createVerify, tokenOf, type Verify } from "./access.ts"
import { serveConnection, type Subject } from "./connection.ts"
import { type Fault, faultResponse, faults, StreamFault } from "./faults.ts"
import type { Outbox } from "./outbox.ts"
import type { Stack } from "../stack/stack.ts"

type ServerOptions = Pick<Runtime, "wallClock" | "now" | "randomId"> & {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  readonly bounds: Bounds
  readonly keys: KeySource
  readonly issuer: string
  /** The response to GET /health; undefined while nothing can be served. */
  readonly health: () => object | undefined
  readonly onCut: (reason: string) => void
  readonly onBug: (error: unknown) => void
}

type Client = { readonly stack: string; readonly socket: WebSocket; readonly outbox: Outbox; idleAt: number }

const maxMessageBytes = 65_536
const checkMs = 250
/** How long a stop waits for clients and sources. */
export const drainMs = 1_000
/** Connections of one client address with a publishable key, which all visitors of a page share. */
export const connectionsPerAddress = 32
/** Browsers offer this subprotocol beside the one with their token; the server selects it. */
const subprotocol = "svc.stream.v1"

/** Adds up amounts within a minute, which begins with the first one. */
const createMinute = (now: () => number) => {
  let [start, total] = [-Infinity, 0]
  return (amount: number): number => {
    if (now() - start >= 60_000) [start, total] = [now(), 0]
    return (total += amount)
  }
}

const locate = ({ url = "/" }: IncomingMessage) => {
  // Null for what is no path, such as "//".
  const target = URL.parse(url, "http://localhost")
  const path = target?.pathname ?? ""
  const query = target?.searchParams ?? new URLSearchParams()
  return { path, query, name: /^\/([a-z0-9][a-z0-9-]*)\/?$/.exec(path)?.[1] }
}

/** Serves stacks over WebSocket. Rejects if the port isn't free. */
export const startServer = async (options: ServerOptions) => {
  const { host, port, bounds, keys, issuer, wallClock, now, randomId, health, onCut, onBug } = options
  const stacks = new Map<string, { readonly stack: Stack; readonly verify: Verify }>()
  const clients = new Set<Client>()
  const subjects = new Map<string, Subject>()

  const createSubject = (): Subject => ({
    connections: 0,
    subscriptions: 0,
    messages: createMinute(now),
    bytes: createMinute(now),
  })

  const shouldUpgradeCallback = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket"
  const server = createServer({ shouldUpgradeCallback }, (request, response) => {
    const { path, name } = locate(request)
    if (path === "/health") {
      const state = health()
      const headers = { "content-type": "application/json", "access-control-allow-origin": "*" }
      response.writeHead(state === undefined ? 503 : 200, headers).end(JSON.stringify(state ?? { status: "starting" }))
      return
    }
    const { fault } = new StreamFault(name === undefined ? "not-found" : "upgrade-required")
    const { headers, body } = faultResponse(fault, randomId())
    response.writeHead(fault.status, headers).end(body)
  })
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
  })

  const refuse = (socket: Duplex, fault: Fault): void => {
    const { headers, body } = faultResponse(fault, randomId())
    const all = { ...headers, connection: "close", "content-length": Buffer.byteLength(body) }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join("")}\r\n${body}`)
  }

  const cut = (client: Client, reason: string): void => {
    onCut(reason)
    clients.delete(client)
    client.socket.terminate()
  }

  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const { name = "", query } = locate(request)
    if (health() === undefined) throw new StreamFault("service-unavailable")
    const asked = stacks.get(name)
    if (asked === undefined) {
      const near = closeTo(name, [...stacks.keys()])
      throw new StreamFault(
        "stack-not-found",
        undefined,
        near && `Did you mean ${near}? ${faults["stack-not-found"].hint}`,
      )
    }
    const { origin } = request.headers
    const claims = await asked.verify(tokenOf(request, query), origin)
    // The stack may have a newer version since the token was checked, or have been withdrawn.
    const current = stacks.get(name)
    if (current === undefined) throw new StreamFault("stack-not-found")
    const { stack, verify } = current
    const isShared = claims.key_class === "publishable"
    // So one visitor can't use up what the others need.
    const counted = isShared ? `${claims.sub} ${addressBucket(request.socket.remoteAddress ?? "")}` : claims.sub
    const subject = subjects.getOrInsertComputed(counted, createSubject)
    const most = Math.min(claims.limits?.max_connections ?? Infinity, isShared ? connectionsPerAddress : Infinity)
    if (subject.connections >= most) {
      throw new StreamFault("connection-limit-exceeded")
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const renew = (token: string) => verify(token, origin)
      const outbox = serveConnection(webSocket, { stack, claims, subject, verify: renew, wallClock, onBug })
      const client: Client = { stack: name, socket: webSocket, outbox, idleAt: now() }
      clients.add(client)
      webSocket.on("error", () => {})
      webSocket.on("close", () => clients.delete(client))
      const [oldest] = clients
      if (clients.size > bounds.connections && oldest !== undefined) cut(oldest, "connections")
    })
  }

  // All of them, whatever they have sent: to the server one that has sent nothing, or waits for its upgrade, is as good as busy.
  const connections = new Set<Socket>()
  server.on("connection", (socket) => {
    connections.add(socket)
    socket.once("close", () => connections.delete(socket))
  })

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => {})
    accept(request, socket, head).catch((error: unknown) => {
      if (error instanceof StreamFault) return refuse(socket, error.fault)
      onBug(error)
      socket.destroy()
    })
  })

  /** Disconnects clients that don't read: each after a time that grows with its queue, and the slowest when all queues are too long. */
  const check = (): void => {
    let held = 0
    for (const client of clients) {
      const bytes = client.outbox.held()
      if (bytes === 0) client.idleAt = now()
      const patienceMs = bounds.answerMs + (bytes / bounds.bytesPerSecond) * 1000
      if (now() - client.idleAt > patienceMs) cut(client, "answerMs")
      else held += bytes
    }
    for (const client of held > bounds.heldBytes ? [...clients].sort((a, b) => a.idleAt - b.idleAt) : []) {
      if (held <= bounds.heldBytes) break
      held -= client.outbox.held()
      cut(client, "heldBytes")
    }
  }

  await once(server.listen({ host, port }), "listening")
  const timer = setInterval(check, checkMs)

  const disconnect = (name: string, code: number, reason: string): void => {
    for (const { stack, socket } of clients) if (stack === name) socket.close(code, reason)
  }

  return {
    port: (server.address() as AddressInfo).port,
    /** Serves a stack, or a new version of it. Clients of the former version have to reconnect. */
    put: (stack: Stack): void => {
      const { name } = stack
      stacks.set(name, { stack, verify: createVerify({ keys, issuer, audiences: [name], now: wallClock }) })
      disconnect(name, 1012, "the stack begins anew")
    },
    remove: (name: string): void => {
      stacks.delete(name)
      disconnect(name, 1008, "stack-not-found: No public stack has this name.")
    },
    close: async (): Promise<void> => {
      clearInterval(timer)
      for (const { socket } of clients) socket.close(1001, "the server stops")
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const late = setTimeout(() => {
        for (const socket of connections) socket.destroy()
      }, drainMs)
      server.closeIdleConnections()
      await closed
      clearTimeout(late)
    },
  }
}
