// A connection to a stream server: how it is rejected, and every message on it.
import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { isObject, type JsonObject, parseJson, textOf } from "@svc/common/json-object"
import { type ClientOptions, WebSocket } from "ws"

/** A rule that the server breaks, and how. */
export class RuleBroken extends Error {}

/** A rule that can't be checked here, and why. */
export class RuleSkipped extends Error {}

const patienceMs = 5_000

/** Throws RuleBroken if the promise takes too long. */
const within = async <T>(promise: Promise<T>, what: string, ms = patienceMs): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RuleBroken(`no ${what} within ${Math.round(ms / 1000)} s`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

export type Credentials = {
  readonly bearer?: string
  readonly protocols?: readonly string[]
  /** For the query parameter of older clients. */
  readonly query?: string
}

/** A rejection before the upgrade: its status, and the code in its body. */
export type Refusal = { readonly status: number; readonly code: string }

const refusalOf = async (response: IncomingMessage): Promise<Refusal> => ({
  status: response.statusCode ?? 0,
  code: textOf(parseJson(await text(response)), "code") ?? "",
})

/** A connection that the server accepted. */
const probeOf = (socket: WebSocket) => {
  const unread: JsonObject[] = []
  let wake = (): void => {}
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: String(reason) }))
  })
  socket.on("message", (data: Buffer) => {
    const message = parseJson(String(data))
    // If it isn't JSON, the rule fails because no message came.
    if (isObject(message)) unread.push(message)
    wake()
  })
  const find = async (isWanted: (message: JsonObject) => boolean): Promise<JsonObject> => {
    for (;;) {
      for (let message = unread.shift(); message !== undefined; message = unread.shift()) {
        if (isWanted(message)) return message
        if (message["type"] === "error")
          throw new RuleBroken(`the server sent the error ${textOf(message, "code") ?? ""}`)
      }
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    protocol: socket.protocol,
    send: (message: object | string): void =>
      socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    /** The next message that is wanted. Throws RuleBroken at an error message that isn't wanted. */
    message: (what: string, isWanted: (message: JsonObject) => boolean): Promise<JsonObject> =>
      within(find(isWanted), what),
    closed: (ms: number) => within(closed, "end of the connection", ms),
    close: (): void => socket.terminate(),
  }
}

export type Probe = ReturnType<typeof probeOf>

/** Connects. Returns the rejection if the server rejects the connection; throws if no server responds. */
export const connect = async (
  url: string,
  options: ClientOptions,
  { bearer, protocols = [], query }: Credentials,
): Promise<Probe | Refusal> => {
  const target = new URL(url)
  if (query !== undefined) target.searchParams.set("hs_token", query)
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
  const socket = new WebSocket(target, [...protocols], { ...options, headers })
  const opening = new Promise<Probe | Refusal>((resolve, reject) => {
    socket.on("error", reject)
    // It must listen before the first message comes.
    const probe = probeOf(socket)
    socket.on("open", () => resolve({ ...probe, protocol: socket.protocol }))
    socket.on("unexpected-response", (_request, response) => {
      refusalOf(response).then(resolve, reject)
    })
  })
  return within(opening, "response to the upgrade").catch((error: unknown) => {
    socket.terminate()
    throw error
  })
}
