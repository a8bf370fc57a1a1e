import type { ClientRequest, IncomingMessage } from "node:http"

/** Sends a request with this body. Resolves when the head of the response has come. */
export const responseTo = (request: ClientRequest, body: string | undefined): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once("response", resolve).once("error", reject).end(body)
  })
