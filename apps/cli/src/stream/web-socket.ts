import type { WebSocketClass } from "@svc/client"
import { type ClientOptions, WebSocket } from "ws"
import { proxyTo } from "../services/transport.ts"
import type { Environment } from "../settings/settings.ts"

/** The options of a connection to a stream: through the environment's proxy, if there is one. */
export const connectionOptions = async (url: string, env: Environment): Promise<ClientOptions> => {
  const proxy = await proxyTo(new URL(url), env)
  if (proxy === undefined) return {}
  // `ws` passes it on to a request of Node's, which calls it so. Its types have another function.
  const { createConnection }: { readonly createConnection: unknown } = proxy
  return { createConnection } as ClientOptions
}

/** The WebSocket class for a stream. Node 20 has none of its own, and none of Node's own uses a proxy by itself. */
export const webSocketFor = async (websocketUrl: string, env: Environment): Promise<WebSocketClass> => {
  const options = await connectionOptions(websocketUrl, env)
  return class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, options)
    }
  }
}
