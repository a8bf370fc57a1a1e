import {
  cidrs,
  flag,
  integer,
  list,
  loadConfig,
  oneOf,
  readBoth,
  secret,
  text,
  textOrFile,
  url,
  urls,
} from "@svc/config"
import { boundFields, readBounds } from "@svc/http"
import { limitFields } from "@svc/limits"
import { staticKeys } from "@svc/session-token"
import { isLoopbackHost } from "./auth.ts"
import { largestTransaction } from "./wire.ts"

type Env = Readonly<Record<string, string | undefined>>

const count = (fallback: number) => integer({ default: fallback, min: 0 })
const milliseconds = (fallback: number) => integer({ default: fallback, min: 1, max: 600_000 })
const upstream = url({ default: undefined, exact: true, credentials: true })

const fields = {
  HOST: text({ default: "127.0.0.1" }),
  PORT: integer({ default: 4002, min: 0, max: 65_535 }),
  NODE_ENV: text({ default: "" }),
  SVC_LOG_LEVEL: oneOf(["debug", "info", "warn", "error", "silent"], "info"),
  SVC_RELAY_URL: url({ default: undefined }),
  SVC_DOCS_URL: url({ default: "http://localhost:4001" }),
  SVC_TRUSTED_PROXY_CIDRS: cidrs(),
  ...boundFields,
  SVC_OTEL_ENABLED: flag(false),
  SVC_TRANSACTIONS_ENABLED: flag(false),
  SVC_TRANSACTION_RPC_URL: upstream,
  CHAIN_RPC_URL: upstream,
  RPC_URL: upstream,
  SVC_TRANSACTION_READ_FALLBACK_URLS: urls({ exact: true, credentials: true }),
  SVC_TRANSACTION_SEND_URL: upstream,
  SVC_TRANSACTION_VERIFY: oneOf(["none", "structure", "signatures"], "none"),
  SVC_TRANSACTION_MAX_BODY_BYTES: integer({ default: 4096, min: 0, max: 1_048_576 }),
  SVC_TRANSACTION_MAX_BYTES: integer({ default: 1232, min: 0, max: largestTransaction }),
  SVC_TRANSACTION_INSPECT_TIMEOUT_MS: milliseconds(10_000),
  SVC_TRANSACTION_SEND_TIMEOUT_MS: milliseconds(15_000),
  SVC_TRANSACTION_STATUS_TIMEOUT_MS: milliseconds(10_000),
  SVC_TRANSACTION_INSPECT_CONCURRENCY: count(64),
  SVC_TRANSACTION_SEND_CONCURRENCY: count(16),
  SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: count(600),
  SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: count(60),
  SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: count(600),
  SVC_TRANSACTION_USAGE_ENABLED: flag(false),
  SVC_TRANSACTION_USAGE_ENDPOINT: url({ default: undefined, exact: true }),
  SVC_TRANSACTION_USAGE_TOKEN: secret({ default: undefined }),
  SVC_TRANSACTION_USAGE_SPOOL_CAPACITY: count(1000),
  ...limitFields,
  SVC_SESSION_JWKS_URL: url({ default: undefined, exact: true }),
  SVC_SESSION_PUBLIC_KEY: text({ default: undefined }),
  SVC_SESSION_PUBLIC_KEY_FILE: text({ default: undefined }),
  SVC_SESSION_ISSUER: text({ default: "svc-platform" }),
  SVC_SESSION_AUDIENCE: list(),
}

type Settings = ReturnType<typeof loadConfig<typeof fields>>

const keySettings = ["SVC_SESSION_JWKS_URL", "SVC_SESSION_PUBLIC_KEY", "SVC_SESSION_PUBLIC_KEY_FILE"] as const
const rpcSettings = ["SVC_TRANSACTION_RPC_URL", "CHAIN_RPC_URL", "RPC_URL"] as const

const check = (settings: Settings, unusable: ReadonlySet<string>): string[] => {
  const problems: string[] = []
  const missing = (names: readonly (keyof Settings)[]): boolean =>
    names.every((name) => settings[name] === undefined && !unusable.has(name))
  if (settings.SVC_TRANSACTION_USAGE_ENABLED) {
    for (const name of ["SVC_TRANSACTION_USAGE_ENDPOINT", "SVC_TRANSACTION_USAGE_TOKEN"] as const) {
      if (missing([name])) problems.push(`${name}: is required when SVC_TRANSACTION_USAGE_ENABLED is true`)
    }
  }
  const keys = keySettings.filter((name) => !missing([name]))
  if (keys.length > 1) problems.push(`${keys.join(", ")}: only one of them can be set`)
  if (!settings.SVC_TRANSACTIONS_ENABLED) return problems
  if (missing(rpcSettings)) {
    problems.push("SVC_TRANSACTION_RPC_URL: is required when SVC_TRANSACTIONS_ENABLED is true")
  }
  if (keys.length > 0 && settings.SVC_SESSION_AUDIENCE.length === 0) {
    problems.push("SVC_SESSION_AUDIENCE: is required with session keys: the stacks whose tokens count here")
  }
  if (keys.length === 0 && (settings.NODE_ENV === "production" || !isLoopbackHost(settings.HOST))) {
    const where = settings.NODE_ENV === "production" ? "with NODE_ENV=production" : `on HOST=${settings.HOST}`
    problems.push(
      `SVC_SESSION_JWKS_URL: the relay does not run unprotected ${where}: ` +
        "set it, SVC_SESSION_PUBLIC_KEY or SVC_SESSION_PUBLIC_KEY_FILE, and SVC_SESSION_AUDIENCE",
    )
  }
  return problems
}

/** Everything the relay is told from outside, or one ConfigError with all that is wrong. */
export const readConfig = async (env: Env) => {
  const [settings, publicKeys] = await readBoth(
    () => loadConfig(fields, env, check),
    () => textOrFile(env, "SVC_SESSION_PUBLIC_KEY", staticKeys),
  )
  const jwksUrl = settings.SVC_SESSION_JWKS_URL
  return {
    host: settings.HOST,
    port: settings.PORT,
    publicUrl: settings.SVC_RELAY_URL,
    docsUrl: settings.SVC_DOCS_URL,
    logLevel: settings.SVC_LOG_LEVEL,
    trustedProxies: settings.SVC_TRUSTED_PROXY_CIDRS,
    bounds: readBounds(settings),
    telemetry: settings.SVC_OTEL_ENABLED,
    enabled: settings.SVC_TRANSACTIONS_ENABLED,
    upstreamUrl: settings.SVC_TRANSACTION_RPC_URL ?? settings.CHAIN_RPC_URL ?? settings.RPC_URL,
    readFallbackUrls: settings.SVC_TRANSACTION_READ_FALLBACK_URLS,
    sendUrl: settings.SVC_TRANSACTION_SEND_URL,
    verify: settings.SVC_TRANSACTION_VERIFY,
    maxBodyBytes: settings.SVC_TRANSACTION_MAX_BODY_BYTES,
    maxBytes: settings.SVC_TRANSACTION_MAX_BYTES,
    timeoutMs: {
      inspect: settings.SVC_TRANSACTION_INSPECT_TIMEOUT_MS,
      send: settings.SVC_TRANSACTION_SEND_TIMEOUT_MS,
      status: settings.SVC_TRANSACTION_STATUS_TIMEOUT_MS,
    },
    concurrency: {
      inspect: settings.SVC_TRANSACTION_INSPECT_CONCURRENCY,
      send: settings.SVC_TRANSACTION_SEND_CONCURRENCY,
    },
    perMinute: {
      inspect: settings.SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE,
      send: settings.SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE,
      status: settings.SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE,
    },
    usage:
      settings.SVC_TRANSACTION_USAGE_ENABLED &&
      settings.SVC_TRANSACTION_USAGE_ENDPOINT !== undefined &&
      settings.SVC_TRANSACTION_USAGE_TOKEN !== undefined
        ? {
            endpoint: settings.SVC_TRANSACTION_USAGE_ENDPOINT,
            token: settings.SVC_TRANSACTION_USAGE_TOKEN,
            capacity: settings.SVC_TRANSACTION_USAGE_SPOOL_CAPACITY,
          }
        : undefined,
    limits: settings,
    issuer: settings.SVC_SESSION_ISSUER,
    audiences: settings.SVC_SESSION_AUDIENCE,
    jwksUrl,
    publicKeys,
  }
}

export type Config = Awaited<ReturnType<typeof readConfig>>
