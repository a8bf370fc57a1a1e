// Which chain the provider is of. A relay whose provider doesn't answer serves all the same.
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

/** What everybody may know of a chain. A provider on this machine whose chain isn't public gives funds to whoever asks. */
export const describeChain = (
  genesis_hash: string,
  { upstreamUrl, nodeEnv }: Pick<Config, "upstreamUrl" | "nodeEnv">,
): Chain => {
  const network = networks[genesis_hash]
  if (network !== undefined) return { genesis_hash, network }
  const { hostname, origin } = new URL(upstreamUrl ?? "http://nowhere.invalid")
  return { genesis_hash, ...(isLoopback(hostname) && nodeEnv !== "production" && { faucet: origin }) }
}

const callMs = 2500
const retryMs = 10_000

/**
 * The provider's genesis hash, asked for when somebody wants to know it and kept from then on; undefined if the provider
 * doesn't tell. A provider that fails is asked every ten seconds at most.
 */
export const createChain = ({ call }: Pick<Upstream, "call">, now: () => number) => {
  let hash: string | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined
  const ask = async (): Promise<void> => {
    const answer = await call({ method: "getGenesisHash", params: [], timeoutMs: callMs, maxAnswerBytes: 1024 })
    const result = answer.kind === "result" ? answer.result : undefined
    if (typeof result === "string" && /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(result)) hash = result
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
