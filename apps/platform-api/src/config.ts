import { fileURLToPath } from "node:url"
import { cidrs, flag, integer, loadConfig, oneOf, readBoth, type Secret, secret, text, url } from "@svc/config"
import { boundFields } from "@svc/http"
import { limitFields } from "@svc/limits"
import { normaliseWebsocketUrl } from "./registry/websocket-url.ts"
import { readGivenKeys } from "./signing-keys.ts"

const appFolder = fileURLToPath(new URL("..", import.meta.url))

type Env = Readonly<Record<string, string | undefined>>

const perMinute = (fallback: number) => integer({ default: fallback, min: 0, max: 1_000_000 })

const hookProblems = (hookUrl: string | undefined, given: Secret | undefined): string[] => {
  if (hookUrl !== undefined && given === undefined)
    return ["SVC_DEPLOY_HOOK_SECRET: is required with SVC_DEPLOY_HOOK_URL"]
  // Standard Webhooks: 24 to 64 random bytes in base64.
  return given === undefined || /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(given.reveal())
    ? []
    : ["SVC_DEPLOY_HOOK_SECRET: must be whsec_ and 24 to 64 random bytes in base64"]
}

const templateProblems = (template: string | undefined): string[] =>
  template === undefined ||
  (template.includes("{slug}") && normaliseWebsocketUrl(template.replaceAll("{slug}", "a")) !== undefined)
    ? []
    : ["SVC_STREAM_URL_TEMPLATE: must be a ws:// or wss:// URL with {slug} in it"]

/** The settings, which are all that operator commands need. Throws ConfigError with every problem. */
export const readSettings = (env: Env) =>
  loadConfig(
    {
      HOST: text({ default: "127.0.0.1" }),
      PORT: integer({ default: 4003, min: 0, max: 65_535 }),
      NODE_ENV: text({ default: "" }),
      DATABASE_URL: url({ protocols: ["postgres:", "postgresql:"], default: undefined, credentials: true }),
      SVC_DATA_DIR: text({ default: `${appFolder}.data` }),
      SVC_LOG_LEVEL: oneOf(["debug", "info", "warn", "error", "silent"], "info"),
      SVC_TRUSTED_PROXY_CIDRS: cidrs(),
      ...boundFields,
      ...limitFields,
      SVC_OTEL_ENABLED: flag(false),
      SVC_API_URL: url({ default: undefined }),
      SVC_DOCS_URL: url({ default: "http://localhost:4001" }),
      SVC_RELAY_URL: url({ default: "http://localhost:4002" }),
      SVC_SESSION_ISSUER: text({ default: "svc-platform" }),
      SVC_SESSION_SIGNING_KEY: secret({ default: undefined }),
      SVC_SESSION_SIGNING_KEY_FILE: text({ default: undefined }),
      SVC_SIGNUPS_PER_HOUR: integer({ default: 5, min: 1, max: 1_000_000 }),
      // 0 switches a limit off.
      SVC_REGISTRY_REQUESTS_PER_MINUTE: perMinute(300),
      SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE: perMinute(1200),
      SVC_REQUESTS_PER_MINUTE: perMinute(0),
      SVC_FAILED_AUTH_PER_MINUTE: perMinute(0),
      SVC_WORKER: flag(true),
      SVC_STREAM_URL_TEMPLATE: text({ default: undefined }),
      SVC_PUBLIC_STACKS: oneOf(["people", "operator"], "people"),
      SVC_DEPLOY_HOOK_URL: url({ default: undefined }),
      SVC_DEPLOY_HOOK_SECRET: secret({ default: undefined }),
      SVC_SPECS_PER_OWNER: integer({ default: 100, min: 1, max: 1_000_000 }),
      SVC_VERSIONS_PER_SPEC: integer({ default: 1000, min: 1, max: 1_000_000 }),
      SVC_WAITING_BUILDS_PER_OWNER: integer({ default: 20, min: 1, max: 1_000_000 }),
      SVC_EVENT_STREAMS_PER_OWNER: integer({ default: 5, min: 1, max: 10_000 }),
    },
    env,
    (settings) => [
      ...(settings.SVC_SESSION_SIGNING_KEY !== undefined && settings.SVC_SESSION_SIGNING_KEY_FILE !== undefined
        ? ["SVC_SESSION_SIGNING_KEY: set it or SVC_SESSION_SIGNING_KEY_FILE, not both"]
        : []),
      ...hookProblems(settings.SVC_DEPLOY_HOOK_URL, settings.SVC_DEPLOY_HOOK_SECRET),
      ...templateProblems(settings.SVC_STREAM_URL_TEMPLATE),
    ],
  )

export type Settings = ReturnType<typeof readSettings>

/** What the service itself needs: the settings, and the signing keys that are given. Throws ConfigError with every problem. */
export const readServiceSettings = async (env: Env) => {
  const [settings, givenKeys] = await readBoth(
    () => readSettings(env),
    () => readGivenKeys(env),
  )
  return { ...settings, givenKeys }
}

export type ServiceSettings = Awaited<ReturnType<typeof readServiceSettings>>
