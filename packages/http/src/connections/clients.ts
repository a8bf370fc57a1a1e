import type { Socket } from "node:net"
import type { Exchange } from "../exchange.ts"

/** What one client costs the server. */
export type Client = {
  readonly name: string
  /** Whether it is the account of a valid key, else an address. */
  readonly hasAccount: boolean
  connections: number
  /** Pipelined requests that have not begun. */
  waiting: number
  /** Bytes of its unfinished bodies, and of responses that it doesn't take. */
  held: number
}

export type Connection = {
  readonly socket: Socket
  /** A trusted proxy's: it counts alone until a request says who the client is. */
  readonly isProxied: boolean
  client: Client
  /** Who is charged for the bytes: the account that the request belongs to, once it is known, else the client. */
  holder: Client
  /** The request that was read last. */
  newest: Exchange | undefined
  waiting: number
  held: number
  deadline: NodeJS.Timeout | undefined
  /** Bytes given to the kernel. */
  sent: number
  /** When the kernel was last asked: those of them that the client had acknowledged, and those that it had not. */
  acknowledged: number
  queued: number
}

/** The connection of the client that has most in all, and of its connections the one that has most; else the first. */
export const heaviest = (
  all: Iterable<Connection>,
  inAll: (one: Connection) => number,
  own: (one: Connection) => number,
): Connection | undefined => {
  let most: Connection | undefined
  for (const one of all) {
    const more = most === undefined ? 1 : inAll(one) - inAll(most) || own(one) - own(most)
    if (more > 0) most = one
  }
  return most
}

/** Adds up what clients cost, each and all together. */
export const createClients = () => {
  const known = new Map<string, Client>()
  const total = { waiting: 0, held: 0, heldWithoutAccount: 0 }
  return {
    total: total as Readonly<typeof total>,
    named: (name: string, hasAccount = false): Client => {
      const client = known.get(name) ?? { name, hasAccount, connections: 0, waiting: 0, held: 0 }
      known.set(name, client)
      return client
    },
    /** Adds to what a client costs. One that costs nothing is forgotten. */
    charge: (
      client: Client,
      { connections = 0, waiting = 0, held = 0 }: Partial<Record<"connections" | "waiting" | "held", number>>,
    ): void => {
      client.connections += connections
      client.waiting += waiting
      client.held += held
      total.waiting += waiting
      total.held += held
      if (!client.hasAccount) total.heldWithoutAccount += held
      if (client.connections + client.waiting + client.held === 0) known.delete(client.name)
    },
  }
}
