import { fileURLToPath } from "node:url"
import { cidrs, integer, loadConfig, oneOf, readBoth, secret, text, url } from "@svc/config"
import { boundFields } from "@svc/http"
import { readGivenKeys } from "./signing-keys.ts"

const appFolder = fileURLToPath(new URL("..", import.meta.url))

type Env = Readonly<Record<string, string | undefined>>

const perMinute = (fallback: number) => integer({ default: fallback, min: 0, max: 1_000_000 })

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
      SVC_API_URL: url({ default: undefined }),
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
    },
    env,
    (settings) =>
      settings.SVC_SESSION_SIGNING_KEY !== undefined && settings.SVC_SESSION_SIGNING_KEY_FILE !== undefined
        ? ["SVC_SESSION_SIGNING_KEY: set it or SVC_SESSION_SIGNING_KEY_FILE, not both"]
        : [],
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
