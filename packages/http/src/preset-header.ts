import { ServerResponse } from "node:http"
import type { Context } from "hono"

/**
 * Sets a header on whatever answer will follow, errors too; a handler that sets the same one wins. Call it before the
 * handlers run. Behind the Node server it goes to Node's response, past the Headers object that Hono would build.
 */
export const presetHeader = (c: Context, name: string, value: string): void => {
  const env: unknown = c.env
  const outgoing = typeof env === "object" && env !== null && "outgoing" in env ? env.outgoing : undefined
  if (outgoing instanceof ServerResponse) outgoing.setHeader(name, value)
  else c.header(name, value)
}
