import { createPlatform, createRelay, createSession, type Platform, type Relay } from "@svc/client"
import type { Context } from "../command.ts"
import { usageError } from "../errors.ts"
import { apiWithKey } from "../settings/key.ts"
import { serviceUrl } from "../settings/settings.ts"
import type { Api } from "./api.ts"

export const platformOf = ({ url, key }: Api): Platform =>
  createPlatform({ apiUrl: url, ...(key !== undefined && { key }) })

/** The relay, with a session for the stack that the options name. */
export const openRelay = async (context: Context, scope: string): Promise<Relay> => {
  const { stack, "websocket-url": url } = context.options
  if ((stack === undefined) === (url === undefined)) {
    const problem = stack === undefined ? "--stack NAME is missing" : "Use either --stack or --websocket-url, not both"
    throw usageError(`${problem}: the session needs one stack.`)
  }
  const relayUrl = await serviceUrl("relay", context)
  const platform = platformOf(await apiWithKey(context))
  const websocketUrl = url ?? (await platform.registry.get(stack ?? "")).websocket_url
  return createRelay({ relayUrl, session: createSession({ platform, websocketUrl, scope }) })
}
