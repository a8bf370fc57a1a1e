import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { buffer } from "node:stream/consumers"

/**
 * A GET as it is, where fetch would change it: any path, any header, no decompression.
 * @param headers an object, or names and values in turn, Host included
 */
export const rawGet = async (
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> | readonly string[] = {},
) => {
  const [response] = (await once(request(url, { path, headers }).end(), "response")) as [IncomingMessage]
  const { statusCode: status, headers: received, rawHeaders } = response
  return { status, headers: received, rawHeaders, body: await buffer(response) }
}
