import { setTimeout as delay } from "node:timers/promises"
import type { CommandParser, createClient, defineScript } from "redis"
import { announceScript, decideScript, releaseScript } from "./scripts.ts"

/** Loads the store's client. Services pass it in, because those without shared limits don't depend on the client. */
export type Connect = () => Promise<{
  readonly createClient: typeof createClient
  readonly defineScript: typeof defineScript
}>

/** A managed service's own messages aren't used, and the client asks for them in a way that fails at an IPv6 address. */
export const maintNotifications = "disabled"
const connectMs = 1000
const reconnectMs = 500

/** The store didn't answer in time. */
export class StoreTimeout extends Error {
  override readonly name = "StoreTimeout"
}

const steps = 10

/**
 * A reply, or StoreTimeout if it takes longer than `ms`. Only time in which it could have been read counts: while this process
 * is busy, at most two of ten steps pass.
 * @param now a monotonic clock, in milliseconds
 */
export const within = <T>(reply: Promise<T>, ms: number, now: () => number): Promise<T> =>
  new Promise((resolve, reject) => {
    let leftMs = ms
    let from = now()
    let timer: NodeJS.Timeout | undefined
    const late = (): void => reject(new StoreTimeout(`no reply within ${ms} ms`))
    const step = (): void => {
      const time = now()
      leftMs -= Math.min(time - from, (2 * ms) / steps)
      from = time
      // Sockets are read after timers and before immediates, so a reply that has already arrived still counts.
      if (leftMs <= 0) setImmediate(late)
      else wait()
    }
    const wait = (): void => {
      timer = setTimeout(step, Math.min(leftMs, ms / steps))
    }
    wait()
    reply.then(resolve, reject).finally(() => clearTimeout(timer))
  })

const longestReason = 200

/**
 * The reason of a failure: the store's text, or the code of a failed connection. The text stops before the arguments of a command,
 * which can be a password.
 */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  // The client fails so at an error that no command waits for, and loses its text.
  if (error instanceof TypeError) return "it refused the connection: doctor says why"
  const { code } = error as { code?: unknown }
  if (typeof code === "string") return code
  const [text = ""] = error.message.split(/,? with args/)
  return text.slice(0, longestReason) || error.constructor.name
}

/**
 * Connects to a Valkey or Redis server, and reconnects whenever the connection is lost. Calls reject at once while it is
 * unavailable, and reach it in the order in which they are made.
 * @param onLost called for each lost connection: the store may have lost its counts
 */
export const connectStore = async (url: string, connect: Connect, onLost: (reason: string) => void) => {
  const { createClient: create, defineScript: define } = await connect()
  const script = (source: string) =>
    define({
      SCRIPT: source,
      parseCommand: (parser: CommandParser, keys: string[], args: readonly (string | number)[]) => {
        parser.pushKeysLength(keys)
        parser.push(...args.map(String))
      },
      transformReply: (reply: readonly unknown[]) => reply.map(Number),
    })
  const client = create({
    url,
    maintNotifications,
    disableOfflineQueue: true,
    socket: { connectTimeout: connectMs, reconnectStrategy: reconnectMs },
    // Calls have their own timeout; the client's makes an AbortSignal for each.
    commandOptions: { timeout: 0 },
    scripts: { decide: script(decideScript), release: script(releaseScript), announce: script(announceScript) },
  })
  client.on("error", (error: unknown) => onLost(reasonOf(error)))
  // The client keeps trying by itself. Waiting a moment lets the first requests use the store.
  const connected = client.connect().catch(() => {})
  await Promise.race([connected, delay(connectMs, undefined, { ref: false })])
  return client
}
