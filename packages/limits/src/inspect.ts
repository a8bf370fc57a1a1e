import { type Connect, reasonOf } from "./store.ts"

/**
 * What a store says of itself, or the code of why it can't be used. It changes nothing.
 *
 * @returns `policy` is what a full store does (maxmemory-policy), where it tells; `refusal` why it takes no writes now
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
    }
  | { readonly reason: string }
> => {
  const { createClient } = await connect()
  const client = createClient({ url, socket: { connectTimeout: 5_000, reconnectStrategy: false } })
  client.on("error", () => {})
  try {
    await client.connect()
    const lines = (await client.info()).split("\r\n")
    const field = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1)
    const valkey = field("valkey_version")
    // A write that writes nothing, which a store refuses as it would any other.
    const refusal = await client.sendCommand(["SETRANGE", `${prefix}:doctor`, "0", ""]).then(() => undefined, reasonOf)
    const policy = field("maxmemory_policy")
    return {
      name: valkey === undefined ? "Redis" : "Valkey",
      version: valkey ?? field("redis_version") ?? "0",
      isReplica: field("role") === "slave",
      ...(policy !== undefined && { policy }),
      ...(refusal !== undefined && { refusal }),
    }
  } catch (error) {
    return { reason: reasonOf(error) }
  } finally {
    if (client.isOpen) client.destroy()
  }
}
