import { connect, type Socket } from "node:net"
import postgres from "postgres"
import { createDatabase, type Database, type Pool } from "./database.ts"
import { loadServerDriver } from "./drizzle.ts"

type ServerOptions = {
  readonly url: string
  /** Longest time of one statement on the server, in milliseconds; 0 for none. */
  readonly statementMs: number
  readonly connections: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

type Notices = { readonly onnotify: (channel: string) => void; readonly onclose: () => void }

/** A PostgreSQL server. Nothing is connected until something is asked. */
export const openServerDatabase = ({ url, statementMs, connections, now }: ServerOptions): Database => {
  const open = (max: number, notices?: Notices) => {
    const sockets = new Set<Socket>()
    let turn = 0
    const options = {
      max,
      backoff: () => 0.2,
      connect_timeout: 2,
      fetch_types: false,
      onnotice: () => {},
      connection: {
        application_name: "svc-platform-api",
        TimeZone: "UTC",
        statement_timeout: statementMs,
        // Every statement goes by an index for any values: it is planned once a connection. Left to itself the server
        // would plan the look-up of keys anew each time, which takes longer than the look-up.
        plan_cache_mode: "force_generic_plan",
      },
      // Own sockets, because the driver can only say goodbye to a server that does not listen: these can be destroyed.
      socket: ({ host, port, path }: { host: string[]; port: number[]; path?: string | false }): Socket => {
        const at = turn++ % host.length
        const socket =
          typeof path === "string" ? connect(path) : connect({ host: host[at] ?? "localhost", port: port[at] ?? 5432 })
        sockets.add(socket)
        socket.once("close", () => sockets.delete(socket))
        // The driver reads the name to check a certificate against from here.
        return Object.assign(socket, { host: host[at] })
      },
      ...notices,
    }
    const client = postgres(url, options)
    const cut = () => {
      void client.end({ timeout: 0 })
      for (const socket of sockets) socket.destroy()
    }
    return { client, cut }
  }

  const { drizzle } = loadServerDriver()
  const openPool = (): Pool => {
    const { client, cut } = open(connections)
    return {
      orm: drizzle(client),
      query: async <Row>(text: string, params: readonly unknown[]) => {
        // The driver's parameter types know nothing of `unknown`; what is passed is serialised by its JavaScript type.
        const rows: unknown = await client.unsafe(text, params as (string | number)[], { prepare: true })
        return rows as readonly Row[]
      },
      cut,
      close: () => client.end({ timeout: 1 }),
    }
  }

  const stops: (() => void)[] = []
  const listen = (channel: string, onNotice: () => void): void => {
    let listening = false
    const { client, cut } = open(1, { onnotify: onNotice, onclose: () => (listening = false) })
    // A lost connection is noticed here and opened again; until then the caller's poll stands in for it.
    const check = () => {
      if (listening) return
      listening = true
      client.unsafe(`listen ${channel}`).catch(() => (listening = false))
    }
    const timer = setInterval(check, 1000)
    check()
    stops.push(() => {
      clearInterval(timer)
      cut()
    })
  }

  const close = async (): Promise<void> => {
    for (const stop of stops) stop()
  }
  return createDatabase({ openPool, mayHang: true, listen, close, now })
}
