import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { Context } from "hono"

/**
 * Node's response, with headers that are there before the answer is, and with word of the moment the answer begins. A
 * header that is set on Node's own response beforehand sends every later one down a slower way.
 */
export class Outgoing extends ServerResponse {
  /** Sent with whatever answer follows, in lower case; one that the answer names itself wins. */
  readonly preset: Record<string, string> = {}
  /** Called once, with the status, when the answer's head is written. */
  onHead: ((status: number) => void) | undefined

  override writeHead(
    status: number,
    message?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    const given = typeof message === "string" ? headers : message
    // The adapter gives a record or nothing; a list of names and values goes through as it is.
    if (!Array.isArray(given)) super.writeHead(status, { ...this.preset, ...given })
    else super.writeHead(status, given)
    this.onHead?.(status)
    return this
  }
}

/** The two ends of the connection that `serve` puts into a handler's environment. */
export type Connection = { readonly incoming: IncomingMessage; readonly outgoing: Outgoing }

/** The response behind a context, when `serve` made it: an app can also be asked without a server. */
export const outgoingOf = (c: Context): Outgoing | undefined => {
  const env: unknown = c.env
  if (typeof env !== "object" || env === null || !("outgoing" in env)) return undefined
  return env.outgoing instanceof Outgoing ? env.outgoing : undefined
}

/**
 * Sets a header on whatever answer will follow, errors too; a handler that sets the same one wins. Call it before the
 * handlers run. Behind a server it never becomes part of a Headers object, which costs more than all else about it.
 * @param name in lower case
 */
export const presetHeader = (c: Context, name: string, value: string): void => {
  const outgoing = outgoingOf(c)
  if (outgoing === undefined) c.header(name, value)
  else outgoing.preset[name] = value
}
