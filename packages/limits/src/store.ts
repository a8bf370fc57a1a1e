import { setTimeout as delay } from "node:timers/promises"
import type { createClient } from "redis"
import { allScripts, type Script } from "./scripts.ts"

/** Loads the store's client. A service hands it in: one that counts only in its process comes without it. */
export type Connect = () => Promise<{ readonly createClient: typeof createClient }>

export type Store = {
  /** Runs a script; rejects when the store can't be used now. Nothing is queued while it is away. */
  readonly run: (script: Script, keys: readonly string[], args: readonly string[]) => Promise<unknown>
  readonly close: () => void
}

const connectMs = 1000
const reconnectMs = 500

/** The kind of a failure. Of the server's text only the code with which an error begins is shown (OOM, WRONGPASS). */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  const { code } = error as { code?: unknown }
  if (typeof code === "string") return code
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? error.constructor.name
}

const isMissing = (error: unknown): boolean => error instanceof Error && error.message.startsWith("NOSCRIPT")

/**
 * Connects to a Valkey or Redis server, and again whenever the connection is lost.
 * @param onLost called for each lost connection: what the store knew before may be gone
 */
export const connectStore = async (url: string, connect: Connect, onLost: (reason: string) => void): Promise<Store> => {
  const client = (await connect()).createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: connectMs, reconnectStrategy: reconnectMs },
  })
  client.on("error", (error: unknown) => onLost(reasonOf(error)))
  client.on("ready", () => {
    for (const { source } of allScripts) client.scriptLoad(source).catch(() => {})
  })
  // The client goes on trying by itself. The first requests should find a store that is there.
  const connected = client.connect().catch(() => {})
  await Promise.race([connected, delay(connectMs, undefined, { ref: false })])
  return {
    run: async ({ source, sha }, keys, args) => {
      const options = { keys: [...keys], arguments: [...args] }
      try {
        return await client.evalSha(sha, options)
      } catch (error) {
        // The server has forgotten its scripts, so this call brings its own.
        if (isMissing(error)) return client.eval(source, options)
        throw error
      }
    },
    close: () => client.destroy(),
  }
}
