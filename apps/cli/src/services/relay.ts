import { createRelay, createSession, type Relay } from "@svc/client"
import type { Context } from "../command.ts"
import { CliError, usageError } from "../errors.ts"
import { apiWithKey } from "../settings/key.ts"
import { serviceUrl } from "../settings/settings.ts"
import { healthOf, platformOf, readPages } from "./api.ts"
import { transportTo } from "./transport.ts"

/** The version and the chain that a relay reports; null if it can't be reached or doesn't report them. */
export const relayHealth = async ({ env }: Pick<Context, "env">, base: string) => {
  const health = await healthOf({ service: "relay", base, env }, "?chain=true")
  return { version: health?.version ?? null, chain: health?.transactions?.chain ?? null }
}

/** The name of the first stack whose sessions may have the transaction scopes. Throws relay-not-available. */
export const relayStack = async (context: Context): Promise<string> => {
  const stacks = await readPages(await apiWithKey(context), ({ registry }, page) => registry.list(page))
  const found = stacks.find(({ relay }) => relay)
  if (found !== undefined) return found.name
  throw new CliError("relay-not-available", "No stack of this copy allows transactions.", {
    next: "Ask the operator whether the relay is enabled",
  })
}

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
  const fetch = transportTo({ service: "relay", base: relayUrl, env: context.env })
  return createRelay({ relayUrl, fetch, session: createSession({ platform, websocketUrl, scope }) })
}
