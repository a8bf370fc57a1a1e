import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { Outgoing } from "./outgoing.ts"

type Ends = { readonly incoming: IncomingMessage; readonly outgoing: Outgoing }

const known = new WeakMap<Request, Ends>()

/** The ends of an exchange that has no connection, made of the request alone; the same for each call with it. */
export const socketless = (request: Request): Ends => {
  const found = known.get(request)
  if (found !== undefined) return found
  const incoming = new IncomingMessage(new Socket())
  incoming.method = request.method
  const { pathname, search } = new URL(request.url)
  incoming.url = pathname + search
  Object.assign(incoming.headers, Object.fromEntries(request.headers))
  const { body } = request
  if (body !== null) {
    incoming.headers["transfer-encoding"] = "chunked"
    void (async () => {
      const reader = body.getReader()
      for (let read = await reader.read(); !read.done; read = await reader.read()) incoming.push(read.value)
      incoming.push(null)
    })()
  }
  const ends = { incoming, outgoing: new Outgoing(incoming) }
  known.set(request, ends)
  return ends
}
