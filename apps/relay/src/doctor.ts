import {
  ask,
  type Check,
  checkClock,
  checkLimitsStore,
  checkPublicUrl,
  fail,
  type Finding,
  pass,
  warn,
} from "@svc/program"
import { networks } from "./chain.ts"
import { type Config, readConfig } from "./config.ts"

type Provider = { readonly name: string; readonly url: string }

const call = async ({ url }: Provider, method: string, params: readonly unknown[] = []) => {
  const answer = await ask(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  })
  if ("reason" in answer) return { reason: answer.reason }
  const { result, error } = Object(answer.body) as { result?: unknown; error?: { code?: unknown } | null }
  if (result !== undefined) return { result, date: Date.parse(answer.header("date") ?? "") }
  return { reason: typeof error?.code === "number" ? `JSON-RPC error ${error.code}` : `HTTP ${answer.status}` }
}

const lagFinding = async (provider: Provider, at: number): Promise<Finding> => {
  const slot = await call(provider, "getSlot", [{ commitment: "confirmed" }])
  const time = slot.result === undefined ? slot : await call(provider, "getBlockTime", [slot.result])
  const check = `lag of ${provider.name}`
  if (typeof time.result !== "number")
    return warn(
      "provider-lag",
      `${check}: it doesn't tell the time of its newest block (${time.reason ?? "no time"})`,
      "Ask the provider; a local chain doesn't have to.",
    )
  const seconds = Math.max(0, Math.round(at / 1000 - time.result))
  const text = `${check}: the newest confirmed block is ${seconds} s old`
  const next = "The provider lags behind, or the network has stopped: compare with another provider."
  if (seconds > 120) return fail("provider-lag", text, next)
  return seconds > 30 ? warn("provider-lag", text, next) : pass("provider-lag", text)
}

const checkProviders = async (providers: readonly Provider[], wallClock: () => number): Promise<readonly Finding[]> => {
  const [first] = providers
  const found: Finding[] = []
  let chain: string | undefined
  for (const provider of providers) {
    const before = wallClock()
    const genesis = await call(provider, "getGenesisHash")
    if (genesis.result === undefined) {
      const next = "Check the URL with its key, and whether the provider allows this machine."
      found.push(fail("provider", `${provider.name} doesn't answer (${genesis.reason})`, next))
      continue
    }
    const hash = typeof genesis.result === "string" ? genesis.result : "unknown"
    chain ??= hash
    const name = networks[hash] ?? `chain ${hash}`
    if (hash === chain) found.push(pass("provider", `${provider.name} answers for ${name}`))
    else
      found.push(
        fail("provider", `${provider.name} is of another chain: ${name}`, `Use a provider of ${first?.name}'s chain.`),
      )
    found.push(await lagFinding(provider, wallClock()))
    if (provider === first) found.push(...checkClock(provider.name, genesis.date, (before + wallClock()) / 2))
  }
  return found
}

const check = "session-keys"
// The platform allows a minute (Cache-Control: max-age=60).
const oldestCopySeconds = 300

const checkKeys = async ({ jwksUrl, publicKeys }: Config, at: number): Promise<readonly Finding[]> => {
  if (publicKeys !== undefined)
    return [pass(check, "a public key is set; it must be the one that the platform signs with")]
  if (jwksUrl === undefined)
    return [warn(check, "none: everybody on this machine can use the relay", "Set SVC_SESSION_JWKS_URL.")]
  const answer = await ask(jwksUrl, { headers: { "cache-control": "no-cache" } })
  if ("reason" in answer)
    return [
      fail(check, `SVC_SESSION_JWKS_URL doesn't answer (${answer.reason})`, "Start the platform, or correct the URL."),
    ]
  const { keys } = Object(answer.body) as { keys?: unknown }
  const own = Array.isArray(keys) ? keys.map((key: unknown) => Object(key) as { crv?: unknown; exp?: unknown }) : []
  const usable = own.filter(({ crv, exp }) => crv === "Ed25519" && (typeof exp !== "number" || exp * 1000 > at))
  if (usable.length === 0) {
    const what = own.length === 0 ? `no key set (HTTP ${answer.status})` : "no Ed25519 key that hasn't expired"
    return [fail(check, `SVC_SESSION_JWKS_URL has ${what}`, "It must be the platform's /.well-known/jwks.json.")]
  }
  const age = Number(answer.header("age") ?? 0)
  const text = `${usable.length} at SVC_SESSION_JWKS_URL, ${age} s old`
  return [
    age > oldestCopySeconds
      ? fail(check, text, "A cache in front of the platform keeps them too long: let it obey Cache-Control.")
      : pass(check, text),
  ]
}

/** What the relay needs, as checks. Throws ConfigError. */
export const relayChecks = async (
  env: Readonly<Record<string, string | undefined>>,
  { wallClock }: { readonly wallClock: () => number },
): Promise<Readonly<Record<string, Check>>> => {
  const config = await readConfig(env)
  const { upstreamUrl, readFallbackUrls, sendUrl, limits } = config
  const own = { "public-url": () => checkPublicUrl("SVC_RELAY_URL", config.publicUrl, wallClock()) }
  if (!config.enabled || upstreamUrl === undefined) {
    const off = warn("transactions", "the routes are off", "Set SVC_TRANSACTIONS_ENABLED=true to switch them on.")
    return { transactions: async () => [off], ...own }
  }
  const providers = [
    { name: "the provider", url: upstreamUrl },
    ...readFallbackUrls.map((url, index) => ({ name: `fallback ${index + 1}`, url })),
    ...(sendUrl === undefined ? [] : [{ name: "SVC_TRANSACTION_SEND_URL", url: sendUrl }]),
  ]
  const { url: store } = limits
  return {
    provider: () => checkProviders(providers, wallClock),
    [check]: () => checkKeys(config, wallClock()),
    ...(store !== undefined && { "limits-store": () => checkLimitsStore(store, () => import("redis")) }),
    ...own,
  }
}
