import {
  ask,
  type Check,
  checkOtherService,
  checkPublicUrl,
  checkReachable,
  fail,
  type Finding,
  limitsStoreChecks,
  pass,
  redirected,
  serviceChecks,
  stepAfter,
  warn,
} from "@svc/program"
import { validateTelemetry } from "@svc/telemetry"
import { type Config, readConfig } from "./config.ts"
import { callProvider, checkChains, type Provider, providersOf } from "./providers.ts"

type Env = Readonly<Record<string, string | undefined>>

const lagFinding = async (provider: Provider, at: number): Promise<Finding> => {
  const slot = await callProvider(provider, "getSlot", [{ commitment: "confirmed" }])
  const time = slot.result === undefined ? slot : await callProvider(provider, "getBlockTime", [slot.result])
  const check = `lag of ${provider.name}`
  if (typeof time.result !== "number")
    return warn(
      "provider-lag",
      `${check}: it doesn't report the time of its newest block (${time.reason ?? "no time"})`,
      "Ask the provider; a local chain doesn't have to.",
    )
  const seconds = Math.max(0, Math.round(at / 1000 - time.result))
  const text = `${check}: the newest confirmed block is ${seconds} s old`
  const next = "The provider lags behind, or the network has stopped: compare with another provider."
  if (seconds > 120) return fail("provider-lag", text, next)
  return seconds > 30 ? warn("provider-lag", text, next) : pass("provider-lag", text)
}

const checkProviders = async (providers: readonly Provider[], wallClock: () => number): Promise<readonly Finding[]> => {
  const { chains, clock } = await checkChains(providers, wallClock)
  const next = "Check the URL with its key, and whether the provider allows this machine."
  const found = await Promise.all(
    chains.map(async ({ provider, finding, reason }) =>
      finding === undefined
        ? [fail("provider", `${provider.name} doesn't report its chain (${reason})`, stepAfter(reason, next))]
        : [finding, await lagFinding(provider, wallClock())],
    ),
  )
  return [...found.flat(), ...clock]
}

const check = "session-keys"
// The platform allows a minute (Cache-Control: max-age=60).
const oldestCopySeconds = 300

const checkKeys = async ({ jwksUrl, publicKeys, issuer }: Config, at: number): Promise<readonly Finding[]> => {
  if (publicKeys !== undefined)
    return [pass(check, "a public key is set; it must be the one that the platform signs with")]
  if (jwksUrl === undefined)
    return [warn(check, "none: everybody on this machine can use the relay", "Set SVC_SESSION_JWKS_URL.")]
  const response = await ask(jwksUrl, { headers: { "cache-control": "no-cache", "x-svc-doctor": "1" } })
  if ("reason" in response)
    return [
      fail(
        check,
        `SVC_SESSION_JWKS_URL doesn't respond (${response.reason})`,
        stepAfter(response.reason, "Start the platform, or correct the URL."),
      ),
    ]
  const elsewhere = redirected(check, "SVC_SESSION_JWKS_URL", jwksUrl, response)
  if (elsewhere !== undefined) return [elsewhere]
  const { keys } = Object(response.body) as { keys?: unknown }
  const own = Array.isArray(keys)
    ? keys.map((key: unknown) => Object(key) as { crv?: unknown; exp?: unknown; kid?: unknown })
    : []
  const usable = own.filter(({ crv, exp }) => crv === "Ed25519" && (typeof exp !== "number" || exp * 1000 > at))
  if (usable.length === 0) {
    const what = own.length === 0 ? `no key set (HTTP ${response.status})` : "no Ed25519 key that hasn't expired"
    return [fail(check, `SVC_SESSION_JWKS_URL has ${what}`, "It must be the platform's /.well-known/jwks.json.")]
  }
  const twice = usable.find(({ kid }, index) => kid !== undefined && usable.findIndex((one) => one.kid === kid) < index)
  if (twice !== undefined)
    return [
      fail(
        check,
        `SVC_SESSION_JWKS_URL has two keys with the id ${JSON.stringify(twice.kid)}, so many verifiers reject all of its tokens`,
        "Remove one of them from SVC_SESSION_SIGNING_KEY_FILE at the platform, and restart it.",
      ),
    ]
  const theirs = response.header("x-svc-issuer") ?? issuer
  if (theirs !== issuer) {
    const text = `the platform signs as ${JSON.stringify(theirs)}, and tokens of ${JSON.stringify(issuer)} are accepted`
    return [fail(check, text, "Set SVC_SESSION_ISSUER to the same value at the platform and the relay.")]
  }
  const age = Number(response.header("age") ?? 0)
  const text = `${usable.length} at SVC_SESSION_JWKS_URL, ${age} s old`
  return [
    age > oldestCopySeconds
      ? fail(check, text, "A cache in front of the platform keeps them too long: let it obey Cache-Control.")
      : pass(check, text),
  ]
}

const checkAudiences = ({ audiences }: Config): readonly Finding[] =>
  audiences
    .filter((name) => !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))
    .map((name) =>
      fail(
        "audience",
        `SVC_SESSION_AUDIENCE: ${JSON.stringify(name)} can't be a stack's name, so no token is accepted for it`,
        "Name each stack, as `stack list` prints it, separated by commas.",
      ),
    )

const checkSizes = ({ maxBytes, maxBodyBytes }: Config): readonly Finding[] => {
  // As base64.
  const least = Math.ceil(maxBytes / 3) * 4
  if (maxBodyBytes > least) return []
  const text = `a transaction of SVC_TRANSACTION_MAX_BYTES ${maxBytes} doesn't fit into SVC_TRANSACTION_MAX_BODY_BYTES ${maxBodyBytes}`
  return [warn("sizes", text, "Set SVC_TRANSACTION_MAX_BODY_BYTES to 8192, which is enough for every transaction.")]
}

/** What the relay needs, as checks. Throws ConfigError. */
export const relayChecks = async (
  env: Env,
  { wallClock }: { readonly wallClock: () => number },
): Promise<Readonly<Record<string, Check>>> => {
  const config = await readConfig(env)
  validateTelemetry(config, env)
  const { upstreamUrl, limits, usage } = config
  const own = {
    ...serviceChecks("relay", env, config),
    "public-url": () => checkPublicUrl("relay", "SVC_RELAY_URL", config.publicUrl, wallClock()),
    ...(env["SVC_DOCS_URL"] && {
      services: () => checkOtherService("docs-server", "SVC_DOCS_URL", config.docsUrl, wallClock),
    }),
  }
  if (!config.enabled || upstreamUrl === undefined) {
    const off = warn("transactions", "the routes are off", "Set SVC_TRANSACTIONS_ENABLED=true to switch them on.")
    return { transactions: async () => [off], ...own }
  }
  return {
    provider: () => checkProviders(providersOf(config), wallClock),
    [check]: () => checkKeys(config, wallClock()),
    audience: async () => checkAudiences(config),
    sizes: async () => checkSizes(config),
    ...(await limitsStoreChecks(limits, () => import("redis"))),
    ...(usage && { usage: () => checkReachable("usage", "SVC_TRANSACTION_USAGE_ENDPOINT", usage.endpoint) }),
    ...own,
  }
}
