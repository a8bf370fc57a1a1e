import { flag, integer, list, loadConfig, oneOf, readBoth, secret, text, textOrFile, url, urls } from "@svc/config"
import { serviceFields } from "@svc/http"
import { limitFields } from "@svc/limits"
import { isLoopback } from "@svc/common/loopback"
import { staticKeys } from "@svc/session-token"
import { largestTransaction } from "@svc/common/transaction-parts"

type Env = Readonly<Record<string, string | undefined>>

const count = (variable: string, fallback: number) => integer(variable, fallback, { min: 0 })
const milliseconds = (variable: string, fallback: number) => integer(variable, fallback, { min: 1, max: 600_000 })
const upstream = { exact: true, credentials: true }

const fields = {
  ...serviceFields(4002),
  nodeEnv: text("NODE_ENV", ""),
  publicUrl: url("SVC_RELAY_URL", undefined),
  docsUrl: url("SVC_DOCS_URL", "http://localhost:4001"),
  enabled: flag("SVC_TRANSACTIONS_ENABLED", false),
  // The first one that is set counts.
  upstreamUrls: {
    own: url("SVC_TRANSACTION_RPC_URL", undefined, upstream),
    chain: url("CHAIN_RPC_URL", undefined, upstream),
    any: url("RPC_URL", undefined, upstream),
  },
  readFallbackUrls: urls("SVC_TRANSACTION_READ_FALLBACK_URLS", upstream),
  sendUrl: url("SVC_TRANSACTION_SEND_URL", undefined, upstream),
  verify: oneOf("SVC_TRANSACTION_VERIFY", "none", ["none", "structure", "signatures"]),
  maxBodyBytes: integer("SVC_TRANSACTION_MAX_BODY_BYTES", 4096, { min: 0, max: 1_048_576 }),
  maxBytes: integer("SVC_TRANSACTION_MAX_BYTES", 1232, { min: 0, max: largestTransaction }),
  timeoutMs: {
    inspect: milliseconds("SVC_TRANSACTION_INSPECT_TIMEOUT_MS", 10_000),
    send: milliseconds("SVC_TRANSACTION_SEND_TIMEOUT_MS", 15_000),
    status: milliseconds("SVC_TRANSACTION_STATUS_TIMEOUT_MS", 10_000),
  },
  concurrency: {
    inspect: count("SVC_TRANSACTION_INSPECT_CONCURRENCY", 64),
    send: count("SVC_TRANSACTION_SEND_CONCURRENCY", 16),
  },
  perMinute: {
    inspect: count("SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE", 600),
    send: count("SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE", 60),
    status: count("SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE", 600),
  },
  usage: {
    enabled: flag("SVC_TRANSACTION_USAGE_ENABLED", false),
    endpoint: url("SVC_TRANSACTION_USAGE_ENDPOINT", undefined, { exact: true }),
    token: secret("SVC_TRANSACTION_USAGE_TOKEN"),
    capacity: count("SVC_TRANSACTION_USAGE_SPOOL_CAPACITY", 1000),
  },
  limits: limitFields,
  jwksUrl: url("SVC_SESSION_JWKS_URL", undefined, { exact: true }),
  publicKey: text("SVC_SESSION_PUBLIC_KEY", undefined),
  publicKeyFile: text("SVC_SESSION_PUBLIC_KEY_FILE", undefined),
  issuer: text("SVC_SESSION_ISSUER", "svc-platform"),
  audiences: list("SVC_SESSION_AUDIENCE"),
}

type Settings = ReturnType<typeof loadConfig<typeof fields>>

const check = (settings: Settings, unusable: ReadonlySet<string>) => {
  const { usage, upstreamUrls, jwksUrl, publicKey, publicKeyFile, nodeEnv, host, enabled } = settings
  // A setting that can't be used has its own problem.
  const setNames = (settingsByVariable: Readonly<Record<string, unknown>>): string[] =>
    Object.keys(settingsByVariable).filter((name) => settingsByVariable[name] !== undefined || unusable.has(name))
  const delivery = { SVC_TRANSACTION_USAGE_ENDPOINT: usage.endpoint, SVC_TRANSACTION_USAGE_TOKEN: usage.token }
  const missing = usage.enabled ? Object.keys(delivery).filter((name) => !setNames(delivery).includes(name)) : []
  const keys = setNames({
    SVC_SESSION_JWKS_URL: jwksUrl,
    SVC_SESSION_PUBLIC_KEY: publicKey,
    SVC_SESSION_PUBLIC_KEY_FILE: publicKeyFile,
  })
  const { own, chain, any } = upstreamUrls
  const hasUpstream = setNames({ SVC_TRANSACTION_RPC_URL: own, CHAIN_RPC_URL: chain, RPC_URL: any }).length > 0
  const where = nodeEnv === "production" ? "with NODE_ENV=production" : isLoopback(host) ? "" : `on HOST=${host}`
  return [
    ...missing.map((name) => `${name}: is required when SVC_TRANSACTION_USAGE_ENABLED is true`),
    usage.token !== undefined &&
      !/^[!-~]+$/.test(usage.token.reveal()) &&
      "SVC_TRANSACTION_USAGE_TOKEN: must have only visible ASCII characters, because it is sent in a header",
    keys.length > 1 && `${keys.join(", ")}: set only one of them`,
    enabled && !hasUpstream && "SVC_TRANSACTION_RPC_URL: is required when SVC_TRANSACTIONS_ENABLED is true",
    enabled &&
      keys.length > 0 &&
      settings.audiences.length === 0 &&
      "SVC_SESSION_AUDIENCE: is required with session keys: the stacks whose tokens this relay accepts",
    enabled &&
      keys.length === 0 &&
      where !== "" &&
      `SVC_SESSION_JWKS_URL: the relay doesn't run unprotected ${where}: ` +
        "set it, SVC_SESSION_PUBLIC_KEY or SVC_SESSION_PUBLIC_KEY_FILE, and SVC_SESSION_AUDIENCE",
  ]
}

/** The relay's settings. Throws one ConfigError with all problems. */
export const readConfig = async (env: Env) => {
  const [settings, publicKeys] = await readBoth(
    () => loadConfig(fields, env, check),
    () => textOrFile(env, "SVC_SESSION_PUBLIC_KEY", staticKeys),
  )
  const { upstreamUrls, usage } = settings
  const { enabled, endpoint, token, capacity } = usage
  return {
    ...settings,
    upstreamUrl: upstreamUrls.own ?? upstreamUrls.chain ?? upstreamUrls.any,
    usage: enabled && endpoint !== undefined && token !== undefined ? { endpoint, token, capacity } : undefined,
    publicKeys,
  }
}

export type Config = Awaited<ReturnType<typeof readConfig>>
