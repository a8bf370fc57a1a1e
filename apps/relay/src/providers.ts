// What `doctor` and the start know about the providers in the settings.
import { ask, checkClock, type Finding, fail, pass } from "@svc/program"
import { genesisHashIn, networks } from "./chain.ts"
import type { Config } from "./config.ts"
import { credentialsOf } from "./upstream/upstream.ts"

export type Provider = { readonly name: string; readonly url: string }

/** The providers in the settings, starting with the first one. */
export const providersOf = ({
  upstreamUrl,
  readFallbackUrls,
  sendUrl,
}: Pick<Config, "upstreamUrl" | "readFallbackUrls" | "sendUrl">): readonly Provider[] => [
  ...(upstreamUrl === undefined ? [] : [{ name: "the provider", url: upstreamUrl }]),
  ...readFallbackUrls.map((url, index) => ({ name: `fallback ${index + 1}`, url })),
  ...(sendUrl === undefined ? [] : [{ name: "SVC_TRANSACTION_SEND_URL", url: sendUrl }]),
]

/** Makes one JSON-RPC call. `date` is the time in the response's Date header; NaN without one. */
export const callProvider = async ({ url }: Provider, method: string, params: readonly unknown[] = []) => {
  const response = await ask(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...credentialsOf(url) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  })
  if ("reason" in response) return { reason: response.reason, date: Number.NaN }
  const date = Date.parse(response.header("date") ?? "")
  const { result, error } = Object(response.body) as { result?: unknown; error?: { code?: unknown } | null }
  if (result !== undefined) return { result, date }
  if (typeof error?.code === "number") return { reason: `JSON-RPC error ${error.code}`, date }
  const isOk = response.status === 200
  return { reason: isOk ? "the body isn't a JSON-RPC response" : `HTTP ${response.status}`, date }
}

/**
 * Asks each provider for its chain, and compares this machine's clock with the first one's.
 * @returns for each provider a finding about its chain, or `reason` if it doesn't report its chain
 */
export const checkChains = async (providers: readonly Provider[], wallClock: () => number) => {
  const before = wallClock()
  const asked = await Promise.all(
    providers.map(async (provider) => {
      const { result, reason, date } = await callProvider(provider, "getGenesisHash")
      return { provider, reason, date, hash: genesisHashIn(result), at: wallClock() }
    }),
  )
  const [first] = asked
  const chain = asked.find(({ hash }) => hash !== undefined)?.hash
  const clock = first ? checkClock(first.provider.name, first.date, [before, first.at]) : []
  const chains = asked.map(({ provider, reason, hash }) => {
    if (hash === undefined) return { provider, reason: reason ?? "no genesis hash" }
    const name = networks[hash] ?? `chain ${hash}`
    const finding: Finding =
      hash === chain
        ? pass("provider", `${provider.name} is on ${name}`)
        : fail("provider", `${provider.name} is on another chain: ${name}`, "Use providers on one chain.")
    return { provider, finding }
  })
  return { chains, clock }
}
