import { IncomingMessage } from "node:http"
import type { Context } from "hono"

/** The Node request behind a context, when there is one. */
export const incomingOf = (c: Context): IncomingMessage | undefined => {
  const env: unknown = c.env
  if (typeof env !== "object" || env === null || !("incoming" in env)) return undefined
  return env.incoming instanceof IncomingMessage ? env.incoming : undefined
}

/**
 * A request's header, several lines of it joined by commas. Behind the Node server it comes from what Node has parsed
 * already: building a Headers object costs a small request a tenth of its time.
 * @param name in lower case
 */
export const requestHeader = (c: Context, name: string): string | undefined => {
  const incoming = incomingOf(c)
  if (incoming === undefined) return c.req.header(name)
  const value = incoming.headers[name]
  return typeof value === "string" ? value : value?.join(", ")
}
