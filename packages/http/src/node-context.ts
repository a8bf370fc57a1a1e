import { IncomingMessage, ServerResponse } from "node:http"
import type { Context } from "hono"

type Bindings = { readonly incoming?: unknown; readonly outgoing?: unknown }

const bindings = (c: Context): Bindings => {
  const env: unknown = c.env
  return typeof env === "object" && env !== null ? env : {}
}

/**
 * A request header's text. Behind Node's server it is read where Node keeps it: the web Headers object, which is else made
 * for the first header that is asked for, costs more than the rest of a small request's reading.
 * @param name in lower case
 */
export const requestHeader = (c: Context, name: string): string | undefined => {
  const { incoming } = bindings(c)
  if (!(incoming instanceof IncomingMessage)) return c.req.header(name)
  const value = incoming.headers[name]
  return Array.isArray(value) ? value.join(", ") : value
}

/**
 * Sets a header on whatever answer will follow, errors too. Call it before the handlers run; a handler that sets the same
 * one wins. Behind Node's server it goes past the web Headers object, for the reason above.
 */
export const presetHeader = (c: Context, name: string, value: string): void => {
  const { outgoing } = bindings(c)
  if (outgoing instanceof ServerResponse) outgoing.setHeader(name, value)
  else c.header(name, value)
}
