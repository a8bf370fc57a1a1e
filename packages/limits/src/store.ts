import { setTimeout as delay } from "node:timers/promises"
import type { createClient } from "redis"
import { allScripts, type Script } from "./scripts.ts"

/** Loads the store's client. Services pass it in, because those without shared limits don't depend on the client. */
export type Connect = () => Promise<{ readonly createClient: typeof createClient }>

export type Store = {
  /** Runs a script. Rejects at once while the store is unavailable. */
  readonly run: (script: Script, keys: readonly string[], args: readonly string[]) => Promise<unknown>
  readonly close: () => void
}

const connectMs = 1000
const reconnectMs = 500

/** The store didn't answer in time. */
export class StoreTimeout extends Error {
  override readonly name = "StoreTimeout"
}

const steps = 10

/**
 * Calls `onLate` after a timeout, unless the returned function is called first. Only time in which a reply could have been
 * read counts: while this process is busy, at most two steps pass.
 * @param now a monotonic clock, in milliseconds
 */
export const startTimeout = (ms: number, now: () => number, onLate: () => void): (() => void) => {
  const stepMs = ms / steps
  let leftMs = ms
  let from = now()
  let timer: NodeJS.Timeout | undefined
  let over = false
  const late = (): void => {
    if (!over) onLate()
  }
  const wait = (): void => {
    timer = setTimeout(step, Math.min(leftMs, stepMs))
  }
  const step = (): void => {
    const time = now()
    leftMs -= Math.min(time - from, 2 * stepMs)
    from = time
    // Sockets are read after timers and before immediates, so a reply that has already arrived still counts.
    if (leftMs <= 0) setImmediate(late)
    else wait()
  }
  wait()
  return () => {
    over = true
    clearTimeout(timer)
  }
}

/** The kind of a failure, without the server's text: only the code at its start is kept (OOM, WRONGPASS). */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  if (error instanceof StoreTimeout) return error.message
  const { code } = error as { code?: unknown }
  if (typeof code === "string") return code
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? error.constructor.name
}

const isMissing = (error: unknown): boolean => error instanceof Error && error.message.startsWith("NOSCRIPT")

/**
 * Connects to a Valkey or Redis server, and reconnects whenever the connection is lost.
 * @param onLost called for each lost connection: the store may have lost its counts
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
  // The client keeps trying by itself. Waiting a moment lets the first requests use the store.
  const connected = client.connect().catch(() => {})
  await Promise.race([connected, delay(connectMs, undefined, { ref: false })])
  return {
    run: async ({ source, sha }, keys, args) => {
      const options = { keys: [...keys], arguments: [...args] }
      try {
        return await client.evalSha(sha, options)
      } catch (error) {
        // The server has lost its scripts, so this call sends the source.
        if (isMissing(error)) return client.eval(source, options)
        throw error
      }
    },
    close: () => client.destroy(),
  }
}
