import manifest from "../../package.json" with { type: "json" }
import type { Context, Outcome } from "../command.ts"
import { onCode } from "../errors.ts"
import { pairs } from "../output/table.ts"
import { healthOf } from "../services/api.ts"
import { copyUrls, type Service, serviceUrl } from "../settings/settings.ts"
import { relayHealth } from "../services/relay.ts"
import { authStatus } from "./auth.ts"

/** The version that a service reports; null if it can't be reached. */
const versionOf = async (service: Service, base: string, { env }: Context): Promise<string | null> =>
  (await healthOf({ service, base, env }))?.version ?? null

/** Whose key is stored, or the code of the error that says why that can't be told. */
const ownerOf = (context: Context) =>
  authStatus(context).then(
    ({ json }) => json,
    onCode(undefined, ({ code }) => ({ slug: undefined, status: code })),
  )

/** Every URL of the copy in use, and the chain that its relay reports. */
export const readCopy = async (context: Context) => {
  const known = await copyUrls(context)
  const [docs_url, relay_url] = await Promise.all([serviceUrl("docs", context), serviceUrl("relay", context)])
  const urls = { ...known, docs_url, relay_url }
  const relay = await relayHealth(context, relay_url)
  // A local chain gives funds to whoever asks.
  const faucet = urls.chain_url ?? relay.chain?.faucet
  const chain = {
    ...(faucet === undefined ? {} : { faucet: `${faucet} (requestAirdrop)` }),
    ...(relay.chain === null ? {} : { chain: relay.chain }),
  }
  return { urls, chain, relay }
}

/** `svc env`: every URL of the copy in use, whose key is stored, and which versions run. */
export const showEnvironment = async (context: Context): Promise<Outcome> => {
  const { urls, chain, relay } = await readCopy(context)
  const [api, docs, account] = await Promise.all([
    versionOf("api", urls.api_url, context),
    versionOf("docs", urls.docs_url, context),
    ownerOf(context),
  ])
  const versions = { svc: manifest.version, api, docs, relay: relay.version }
  const rows = Object.entries({
    ...urls,
    ...chain,
    chain:
      relay.chain === null ? "not told" : `${relay.chain.network ?? "own"}, genesis hash ${relay.chain.genesis_hash}`,
    account: account.slug ?? account.status,
    ...Object.fromEntries(
      Object.entries(versions).map(([name, version]) => [`${name} version`, version ?? "not reached"]),
    ),
  })
  return { json: { ...urls, ...chain, account, versions }, text: (style) => pairs(rows, style) }
}
