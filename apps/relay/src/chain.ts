// Which chain the provider is of. A relay whose provider doesn't answer serves all the same.
import { isLoopback } from "@svc/common/loopback"
import type { Config } from "./config.ts"
import type { Upstream, UpstreamAnswer } from "./upstream/upstream.ts"

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

const callMs = 5000
const longestWaitMs = 60_000

const isAway: ReadonlySet<UpstreamAnswer["kind"]> = new Set(["transport-error", "timeout", "http-error"])

/** Asks the provider once for its chain's genesis hash. Only while it can't be reached, it is asked again, ever more rarely. */
export const watchChain = ({ call }: Pick<Upstream, "call">) => {
  let hash: string | undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  const ask = async (waitMs: number): Promise<void> => {
    const answer = await call({ method: "getGenesisHash", params: [], timeoutMs: callMs, maxAnswerBytes: 1024 })
    const result = answer.kind === "result" ? answer.result : undefined
    if (typeof result === "string" && /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(result)) hash = result
    if (!isAway.has(answer.kind) || isStopped) return
    timer = setTimeout(() => void ask(Math.min(waitMs * 2, longestWaitMs)), waitMs).unref()
  }
  void ask(1000)
  return {
    genesisHash: () => hash,
    stop: (): void => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
