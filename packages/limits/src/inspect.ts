import { hash } from "node:crypto"
import { connect as connectTcp, isIP } from "node:net"
import { connect as connectTls } from "node:tls"
import type { createClient } from "redis"
import { announceScript } from "./scripts.ts"
import { type Connect, maintNotifications, reasonOf, within } from "./store.ts"
import { anyReplicas, readReplicasKey } from "./store-keys.ts"

type Client = Pick<ReturnType<typeof createClient>, "options" | "sendCommand">

/** Which replicas have announced themselves in the last minute under another prefix; empty if the store doesn't tell. */
const othersOf = async (client: Client, prefix: string): Promise<readonly { prefix: string; service: string }[]> => {
  const keys = new Set<string>()
  let cursor = "0"
  do {
    const scan = ["SCAN", cursor, "MATCH", anyReplicas, "COUNT", "1000"]
    const [next, found] = (await client.sendCommand(scan)) as unknown as [string, string[]]
    for (const key of found) keys.add(key)
    cursor = next
  } while (cursor !== "0")
  const read = [...keys].flatMap((key) => readReplicasKey(key) ?? [])
  return read.filter((one) => one.prefix !== prefix)
}

const firstWordMs = 1000
const deadlineMs = 8_000

/** The error with which a store ends a connection before anything was asked: the client can lose it. */
const refusedFirst = ({ options }: Client): Promise<string | undefined> => {
  // As the client has read the URL.
  const { host, port = 6379, tls } = options.socket as { host: string; port?: number; tls: boolean }
  const socket = tls ? connectTls({ host, port, servername: isIP(host) === 0 ? host : "" }) : connectTcp({ host, port })
  return new Promise((resolve) => {
    socket.setTimeout(firstWordMs, () => socket.destroy())
    socket.on("error", () => {}).on("close", () => resolve(undefined))
    socket.once("data", (data) => {
      const [, refusal] = /^-(.+)\r\n/.exec(data.toString("utf8")) ?? []
      resolve(refusal && reasonOf(new Error(refusal)))
      socket.destroy()
    })
  })
}

/**
 * What a store says of itself, or the code of why it can't be used. It changes nothing.
 *
 * @returns `policy` is what a full store does (maxmemory-policy), where it tells; `refusal` why it takes no writes now; `others`
 * the replicas that count in it under another prefix
 */
export const inspectStore = async (
  url: string,
  prefix: string,
  connect: Connect,
): Promise<
  | {
      readonly name: "Redis" | "Valkey"
      readonly version: string
      readonly policy?: string
      readonly isReplica: boolean
      readonly refusal?: string
      readonly others: readonly { readonly prefix: string; readonly service: string }[]
    }
  | { readonly reason: string }
> => {
  const { createClient } = await connect()
  const client = createClient({ url, maintNotifications, socket: { connectTimeout: 5_000, reconnectStrategy: false } })
  client.on("error", () => {})
  const look = async () => {
    await client.connect()
    const lines = (await client.info()).split("\r\n")
    const field = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1)
    const valkey = field("valkey_version")
    // Writes that write nothing, which a store refuses as it would any other. A user may be allowed the first without the second.
    const key = `${prefix}:doctor`
    const refusal = await client
      .sendCommand(["SETRANGE", key, "0", ""])
      .then(() => client.sendCommand(["EVAL", announceScript, "1", key, "doctor", "0"]))
      // The limits send a script's hash alone.
      .then(() => client.sendCommand(["EVALSHA", hash("sha1", announceScript), "1", key, "doctor", "0"]))
      .then(() => undefined, reasonOf)
    const policy = field("maxmemory_policy")
    return {
      name: valkey === undefined ? "Redis" : "Valkey",
      version: valkey ?? field("redis_version") ?? "0",
      isReplica: field("role") === "slave",
      others: await othersOf(client, prefix).catch(() => []),
      ...(policy !== undefined && { policy }),
      ...(refusal !== undefined && { refusal }),
    } as const
  }
  try {
    return await within(look(), deadlineMs, () => performance.now())
  } catch (error) {
    return { reason: (await refusedFirst(client)) ?? reasonOf(error) }
  } finally {
    if (client.isOpen) client.destroy()
  }
}
