import { connect, isIP, type Socket } from "node:net"
import { type ConnectionOptions as TlsOptions, connect as startTls } from "node:tls"
import { type ConnectionOptions, parse } from "pg-connection-string"
import { failure } from "../errors.ts"

/** Reads a URL as psql does: `sslmode=require` encrypts, `verify-full` also verifies the certificate. */
export const readServerUrl = (url: string): ConnectionOptions => parse(url, { useLibpqCompat: true })

export const portOf = ({ port }: ConnectionOptions): number => Number(port ?? "") || 5432

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

const next = (socket: Socket, event: "connect" | "data" | "secureConnect"): Promise<unknown> =>
  new Promise((resolve, reject) => {
    socket.once(event, resolve).once("error", reject)
    socket.once("close", () => reject(failure("ECONNRESET", "the server closed the connection")))
  })

/** Starts a connection by TCP or a Unix socket. Errors of the socket are always handled. */
export const openSocket = (server: ConnectionOptions): Socket => {
  const host = server.host || "localhost"
  const port = portOf(server)
  const socket = host.startsWith("/")
    ? connect(`${host}/.s.PGSQL.${port}`)
    : connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 })
  return socket.on("error", () => {})
}

/** Waits for the connection, and encrypts it if the URL asks for that. Returns the socket to use. */
export const secureSocket = async (socket: Socket, server: ConnectionOptions): Promise<Socket> => {
  await next(socket, "connect")
  const host = server.host || "localhost"
  if (server.ssl === undefined || server.ssl === false || host.startsWith("/")) return socket
  socket.write(sslRequest)
  const reply = String(await next(socket, "data"))
  if (reply === "N" && server["sslmode"] === "prefer") return socket
  // Further bytes weren't encrypted, so an attacker may have sent them.
  if (reply !== "S") throw failure("ENOTSUP", "the server doesn't support TLS, which the URL asks for")
  const options = typeof server.ssl === "object" ? (server.ssl as TlsOptions) : {}
  const secured = startTls({ ...options, socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) })
  secured.on("error", () => {})
  await next(secured, "secureConnect")
  return secured
}
