// The provider's chain. The relay also serves while its provider doesn't respond.
import { isLoopback } from "@svc/common/loopback"
import type { Config } from "./config.ts"
import type { Upstream } from "./upstream/upstream.ts"

/** The public networks by their genesis hashes. */
export const networks: Readonly<Record<string, string>> = {
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d": "mainnet",
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG: "devnet",
  "4uhcVJyU9pJkvQyS88uRDiswHScwcCRADnUfQTmSpU4M": "testnet",
}

export type Chain = { genesis_hash: string; network?: string; faucet?: string }

/** The public facts about a chain. A provider on this machine with a private chain has a faucet. */
export const describeChain = (
  genesis_hash: string,
  { upstreamUrl, nodeEnv }: Pick<Config, "upstreamUrl" | "nodeEnv">,
): Chain => {
  const network = networks[genesis_hash]
  if (network !== undefined) return { genesis_hash, network }
  const { hostname, origin } = new URL(upstreamUrl ?? "http://nowhere.invalid")
  return { genesis_hash, ...(isLoopback(hostname) && nodeEnv !== "production" && { faucet: origin }) }
}

/** The genesis hash in a result; undefined for anything else, such as what a proxy returns for each method that it doesn't know. */
export const genesisHashIn = (result: unknown): string | undefined =>
  typeof result === "string" && /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(result) ? result : undefined

const callMs = 2500
const retryMs = 10_000

/**
 * The provider's genesis hash. The first caller causes the request, and the result is kept; undefined while the provider doesn't
 * return it. After a failure the provider is asked again every ten seconds at most.
 */
export const createChain = ({ call }: Pick<Upstream, "call">, now: () => number) => {
  let hash: string | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined
  const ask = async (): Promise<void> => {
    const response = await call({ method: "getGenesisHash", params: [], timeoutMs: callMs, maxResponseBytes: 1024 })
    hash = genesisHashIn(response.kind === "result" ? response.result : undefined)
  }
  return async (): Promise<string | undefined> => {
    if (hash === undefined && now() - askedAt >= retryMs) {
      askedAt = now()
      asking = ask()
    }
    await asking
    return hash
  }
}
