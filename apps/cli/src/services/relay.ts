import { createPlatform, createRelay, createSession, type Platform, type Relay } from "@svc/client"
import { isObject } from "@svc/common/json-object"
import type { Context } from "../command.ts"
import { CliError, usageError } from "../errors.ts"
import { textOf } from "../output/json-value.ts"
import { apiWithKey } from "../settings/key.ts"
import { serviceUrl } from "../settings/settings.ts"
import { type Api, healthOf, readPages } from "./api.ts"

export const platformOf = ({ url, key }: Api): Platform =>
  createPlatform({ apiUrl: url, ...(key !== undefined && { key }) })

/** The version and the chain that a relay tells; null if it can't be reached or doesn't tell them. */
export const relayHealth = async (url: string) => {
  const health = await healthOf("relay", url, "?chain=true")
  const transactions = isObject(health) ? health["transactions"] : undefined
  const told = isObject(transactions) ? transactions["chain"] : undefined
  const [genesis_hash, network, faucet] = ["genesis_hash", "network", "faucet"].map((name) => textOf(told, name))
  const chain = genesis_hash ? { genesis_hash, ...(network && { network }), ...(faucet && { faucet }) } : null
  return { version: textOf(health, "version") || null, chain }
}

/** The name of the first stack whose sessions may have the transaction scopes. Throws relay-not-available. */
export const relayStack = async (context: Context): Promise<string> => {
  const stacks = await readPages(await apiWithKey(context), "/api/registry")
  const found = stacks.find((stack) => textOf(stack, "relay") === "true")
  if (found !== undefined) return textOf(found, "name")
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
  return createRelay({ relayUrl, session: createSession({ platform, websocketUrl, scope }) })
}
