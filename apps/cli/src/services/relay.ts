import { createPlatform, createRelay, createSession, type Relay } from "@svc/client"
import type { Context } from "../context.ts"
import { usageError } from "../errors.ts"
import { apiWithKey } from "../settings/key.ts"
import { serviceUrl } from "../settings/settings.ts"

/** The relay, with a session for the stack that the options name. */
export const openRelay = async (context: Context, command: string, scope: string): Promise<Relay> => {
  const { stack, "websocket-url": url } = context.options
  if ((stack === undefined) === (url === undefined)) {
    const problem =
      stack === undefined ? "is missing: the stack whose relay is used" : "says the same as --websocket-url"
    throw usageError(`--stack NAME ${problem}.`, command)
  }
  const relayUrl = await serviceUrl("relay", context.options, context.env, context.folder)
  const { url: apiUrl, key } = await apiWithKey(context)
  const platform = createPlatform({ apiUrl, key })
  const websocketUrl = url ?? (await platform.registry.get(stack ?? "")).websocket_url
  return createRelay({ relayUrl, session: createSession({ platform, websocketUrl, scope }) })
}
