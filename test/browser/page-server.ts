import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { createServer } from "node:http"

export type PageServer = { readonly port: number; readonly close: () => Promise<unknown> }

/** Serves one empty page, on a loopback port: its origin is all that matters. */
export const startPageServer = async (): Promise<PageServer> => {
  const html = '<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,"></html>'
  const server = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(html))
  await once(server.listen(0, "127.0.0.1"), "listening")
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      const closed = once(server.close(), "close")
      server.closeAllConnections()
      return closed
    },
  }
}
