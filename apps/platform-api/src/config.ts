import { fileURLToPath } from "node:url"
import { flag, integer, loadConfig, oneOf, readBoth, type Secret, secret, text, url } from "@svc/config"
import { serviceFields } from "@svc/http"
import { limitFields } from "@svc/limits"
import { isLoopback } from "@svc/common/loopback"
import { normaliseWebsocketUrl } from "./registry/websocket-url.ts"
import { readGivenKeys } from "./signing-keys.ts"

/** How long requests may go on after the service is told to stop. */
export const drainMs = 10_000

const appFolder = fileURLToPath(new URL("..", import.meta.url))

type Env = Readonly<Record<string, string | undefined>>

const perMinute = (variable: string, fallback: number) => integer(variable, fallback, { min: 0, max: 1_000_000 })

const isEncrypted = (hookUrl: string): boolean => {
  const { protocol, hostname } = new URL(hookUrl)
  return protocol === "https:" || isLoopback(hostname)
}

/** The deploy hook's secrets: one, or several separated by spaces. */
export const hookSecretsIn = (setting: Secret): readonly string[] => setting.reveal().trim().split(/\s+/)

const hookProblems = (hookUrl: string | undefined, given: Secret | undefined, insecure: boolean) => [
  hookUrl !== undefined &&
    !insecure &&
    !isEncrypted(hookUrl) &&
    "SVC_DEPLOY_HOOK_URL: must start with https://, because each call carries a link to a private AST; SVC_DEPLOY_HOOK_INSECURE=true sends it unencrypted",
  hookUrl !== undefined && given === undefined && "SVC_DEPLOY_HOOK_SECRET: is required with SVC_DEPLOY_HOOK_URL",
  given !== undefined &&
    !hookSecretsIn(given).every((one) => /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(one)) &&
    "SVC_DEPLOY_HOOK_SECRET: must be whsec_ and 24 to 64 random bytes in base64, or several of these separated by spaces",
]

const isTemplate = (template: string): boolean =>
  template.includes("{slug}") && normaliseWebsocketUrl(template.replaceAll("{slug}", "a")) !== undefined

const fields = {
  ...serviceFields(4003),
  databaseUrl: url("DATABASE_URL", undefined, { protocols: ["postgres:", "postgresql:"], credentials: true }),
  nodeEnv: text("NODE_ENV", ""),
  sampleStacks: flag("SVC_SAMPLE_STACKS", undefined),
  dataFolder: text("SVC_DATA_DIR", `${appFolder}.data`),
  limits: limitFields,
  publicUrl: url("SVC_API_URL", undefined),
  docsUrl: url("SVC_DOCS_URL", "http://localhost:4001"),
  streamUrl: url("SVC_STREAM_URL", "ws://127.0.0.1:4004", { protocols: ["ws:", "wss:"] }),
  issuer: text("SVC_SESSION_ISSUER", "svc-platform"),
  signingKey: secret("SVC_SESSION_SIGNING_KEY"),
  signingKeyFile: text("SVC_SESSION_SIGNING_KEY_FILE", undefined),
  signupsPerHour: integer("SVC_SIGNUPS_PER_HOUR", 5, { min: 1, max: 1_000_000 }),
  // 0 disables a limit.
  perMinute: {
    registry: perMinute("SVC_REGISTRY_REQUESTS_PER_MINUTE", 300),
    keyedRegistry: perMinute("SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE", 1200),
    requests: perMinute("SVC_REQUESTS_PER_MINUTE", 0),
    failedAuth: perMinute("SVC_FAILED_AUTH_PER_MINUTE", 600),
  },
  worker: flag("SVC_WORKER", true),
  streamUrlTemplate: text("SVC_STREAM_URL_TEMPLATE", undefined),
  publicStacks: oneOf("SVC_PUBLIC_STACKS", "people", ["people", "operator"]),
  deployHookUrl: url("SVC_DEPLOY_HOOK_URL", undefined),
  deployHookSecret: secret("SVC_DEPLOY_HOOK_SECRET"),
  deployHookInsecure: flag("SVC_DEPLOY_HOOK_INSECURE", false),
  perOwner: {
    specs: integer("SVC_SPECS_PER_OWNER", 100, { min: 1, max: 1_000_000 }),
    waitingBuilds: integer("SVC_WAITING_BUILDS_PER_OWNER", 20, { min: 1, max: 1_000_000 }),
    waitingRuns: integer("SVC_WAITING_RUNS_PER_OWNER", 100, { min: 1, max: 1_000_000 }),
    eventStreams: integer("SVC_EVENT_STREAMS_PER_OWNER", 5, { min: 1, max: 10_000 }),
  },
  agentUnusedDays: integer("SVC_AGENT_UNUSED_DAYS", undefined, { min: 1, max: 100_000 }),
  usageDays: integer("SVC_USAGE_DAYS", 90, { min: 1, max: 100_000 }),
  changesDays: integer("SVC_CHANGES_DAYS", 400, { min: 1, max: 100_000 }),
  versionsPerSpec: integer("SVC_VERSIONS_PER_SPEC", 1000, { min: 1, max: 1_000_000 }),
}

/** The settings that operator commands need. Throws ConfigError with every problem. */
export const readSettings = (env: Env) =>
  loadConfig(fields, env, ({ signingKey, signingKeyFile, streamUrlTemplate, ...config }) => [
    signingKey !== undefined &&
      signingKeyFile !== undefined &&
      "SVC_SESSION_SIGNING_KEY: set this or SVC_SESSION_SIGNING_KEY_FILE, not both",
    ...hookProblems(config.deployHookUrl, config.deployHookSecret, config.deployHookInsecure),
    streamUrlTemplate !== undefined &&
      !isTemplate(streamUrlTemplate) &&
      "SVC_STREAM_URL_TEMPLATE: must be a ws:// or wss:// URL with {slug} in it",
  ])

export type Settings = ReturnType<typeof readSettings>

/** The settings of the service, with the signing keys if they are set. Throws ConfigError with every problem. */
export const readConfig = async (env: Env) => {
  const [settings, givenKeys] = await readBoth(
    () => readSettings(env),
    () => readGivenKeys(env),
  )
  return { ...settings, givenKeys }
}

export type Config = Awaited<ReturnType<typeof readConfig>>
