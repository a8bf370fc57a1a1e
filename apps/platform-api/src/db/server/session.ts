import { connect, isIP, type Socket } from "node:net"
import { connect as startTls, type ConnectionOptions as TlsOptions } from "node:tls"
import { SetupError } from "@svc/config"
import { type ConnectionOptions, parse } from "pg-connection-string"
import { DatabaseUnavailable, failure } from "../errors.ts"
import { loadPostgres, loadServerDriver, type Orm } from "../database.ts"

/**
 * Reads a URL as psql does: `sslmode=require` encrypts, `verify-full` also verifies the certificate. `allow` is `prefer`: both go on
 * without TLS where the server has none. Throws SetupError.
 */
export const readServerUrl = (url: string): ConnectionOptions => {
  const read = new URL(url)
  const { searchParams } = read
  searchParams.delete("uselibpqcompat")
  read.pathname = searchParams.get("dbname") || read.pathname
  if (searchParams.get("sslmode") === "allow") searchParams.set("sslmode", "prefer")
  if (searchParams.get("sslrootcert") === "system") {
    searchParams.delete("sslrootcert")
    searchParams.set("sslmode", "verify-full")
  }
  try {
    return parse(read.href, { useLibpqCompat: true })
  } catch (error) {
    const { message } = error as Error
    const next = "Correct sslmode and the files of sslrootcert, sslcert and sslkey in DATABASE_URL."
    throw new SetupError(`the database can't be used: ${message}`, "DATABASE_URL", next, error)
  }
}

const portOf = ({ port }: ConnectionOptions): number => Number(port ?? "") || 5432

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

const next = (socket: Socket, event: "connect" | "data" | "secureConnect"): Promise<unknown> =>
  new Promise((resolve, reject) => {
    socket.once(event, resolve).once("error", reject)
    socket.once("close", () => reject(failure("ECONNRESET", "the server closed the connection")))
  })

/** Starts a connection by TCP or a Unix socket. Errors of the socket are always handled. */
const openSocket = (server: ConnectionOptions): Socket => {
  const host = server.host || "localhost"
  const port = portOf(server)
  const socket = host.startsWith("/")
    ? connect(`${host}/.s.PGSQL.${port}`)
    : connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 })
  return socket.on("error", () => {})
}

/** Waits for the connection, and encrypts it if the URL asks for that. Returns the socket to use. */
const secureSocket = async (socket: Socket, server: ConnectionOptions): Promise<Socket> => {
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

/** The rows of a statement, and the command that the server completed, such as COMMIT. */
type Result<Row> = readonly Row[] & { readonly command: string }

/** One session on the server. After it has ended, every statement rejects with DatabaseUnavailable. */
export type Session = {
  readonly orm: Orm
  /** Runs one statement, prepared on the server, or several without parameters. */
  readonly ask: <Row>(text: string, params?: readonly unknown[]) => Promise<Result<Row>>
  readonly hasEnded: () => boolean
  /** Ends a session that has no statement in progress. */
  readonly end: () => void
  /** Closes the connection at once. A server that doesn't respond wouldn't read a goodbye either. */
  readonly destroy: () => void
}

type SessionOptions = {
  readonly server: ConnectionOptions
  /** Runs first. Settings are made here, because poolers reject unknown ones in the startup message. */
  readonly first: string
  readonly onNotice?: (channel: string) => void
  /** How long the server may take to open it, in milliseconds; 2 s unless given. */
  readonly openMs?: number | undefined
  /** Called once when the connection is closed, even if it was never established. */
  readonly onEnd: () => void
}

/** Loads the driver, which takes seconds on a busy machine. Call it before a deadline starts. */
export const loadDriver = (): void => {
  loadPostgres()
  loadServerDriver()
}

const terminate = Buffer.from([0x58, 0, 0, 0, 4])
// Lists of different lengths make different statements, and the server keeps each prepared one until the session ends.
const mostPrepared = 200

/**
 * Opens a session: one instance of the driver with one socket. The instance never reconnects, because a reconnecting
 * driver may end the process (docs/decisions/database.md). Rejects with the error of the server, the system or the
 * driver. An error without a code means that the server didn't respond in time.
 */
export const openSession = async ({
  server,
  first,
  openMs = 2000,
  onNotice,
  onEnd,
}: SessionOptions): Promise<Session> => {
  const raw = openSocket(server).once("close", onEnd)
  let silence: Error | undefined
  const timer = setTimeout(() => {
    silence = new Error("the server didn't respond to a new connection in time")
    raw.destroy(silence)
  }, openMs)
  try {
    const socket = await secureSocket(raw, server)
    const hasEnded = (): boolean => raw.destroyed || socket.destroyed || socket.writableEnded
    let given = false
    const options = {
      host: server.host ?? "",
      port: portOf(server),
      user: server.user ?? "",
      password: server.password ?? "",
      database: server.database ?? "",
      connection: {
        application_name: server.application_name ?? "svc-platform-api",
        ...(server.options === undefined ? {} : { options: server.options }),
      },
      socket: (): Socket => {
        if (given || hasEnded()) throw failure("ECONNRESET", "the server closed the connection")
        given = true
        return socket
      },
      ssl: false,
      max: 1,
      connect_timeout: 0,
      idle_timeout: 0,
      max_lifetime: 0,
      fetch_types: false,
      // Debugging would put parameters into errors.
      debug: false,
      onnotice: () => {},
      onnotify: onNotice,
    }
    const sql = loadPostgres()(options)
    const unsafe = sql.unsafe.bind(sql)
    const send = (text: string, params: unknown[], prepare: boolean) => {
      if (hasEnded()) throw new DatabaseUnavailable("the connection to the database was lost")
      const query = unsafe(text, params as string[], { prepare })
      // The driver would keep the origin and text of each failed statement until the process ends.
      return Object.defineProperty(query, "origin", { value: "" })
    }
    const prepared = new Set<string>()
    const sendForOrm = (text: string, params: unknown[] = []) => {
      if (params.length > 0 && prepared.size < mostPrepared) prepared.add(text)
      return send(text, params, prepared.has(text))
    }
    const ask = async <Row>(text: string, params: readonly unknown[] = []): Promise<Result<Row>> => {
      const result: unknown = await send(text, [...params], true)
      return result as Result<Row>
    }
    await ask(first)
    return {
      orm: loadServerDriver().drizzle(Object.assign(sql, { unsafe: sendForOrm })),
      ask,
      hasEnded,
      end: () => {
        socket.write(terminate)
        socket.destroySoon()
      },
      destroy: () => void raw.destroy(),
    }
  } catch (error) {
    raw.destroy()
    throw silence ?? error
  } finally {
    clearTimeout(timer)
  }
}
