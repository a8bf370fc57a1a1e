// The settings that each service reads, found by running the code that reads them.
import { drainMs as docsDrainMs, readConfig as readDocsConfig } from "../../apps/docs-server/src/config.ts"
import { drainMs as platformDrainMs, readSettings as readPlatformSettings } from "../../apps/platform-api/src/config.ts"
import { readConfig as readRelayConfig } from "../../apps/relay/src/config.ts"

import type { App } from "../services.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** A service's configuration from its environment, or a ConfigError. */
export const readers: Readonly<Record<App, (env: Environment) => unknown>> = {
  "docs-server": readDocsConfig,
  relay: readRelayConfig,
  "platform-api": readPlatformSettings,
}

const { timeoutMs } = await readRelayConfig({})

/** How long each service takes at most to stop; the relay then waits for its usage records and telemetry. */
export const drainSeconds: Readonly<Record<App, number>> = {
  "docs-server": docsDrainMs / 1000,
  relay: Math.max(...Object.values(timeoutMs)) / 1000 + 0.5 + 5 + 5,
  "platform-api": platformDrainMs / 1000,
}

/** The variables that the images set, and those in the secrets of a cluster. */
export const image = { HOST: "0.0.0.0", NODE_ENV: "production", SVC_DATA_DIR: "/data" }
export const secrets = { DATABASE_URL: "postgres://db.example/svc", SVC_TRANSACTION_RPC_URL: "https://rpc.example.com" }

export const apps = Object.keys(readers) as readonly App[]

export const settingNames = async (app: App): Promise<readonly string[]> => {
  const names = new Set<string>()
  const recorder: Environment = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_, name) => {
        names.add(String(name))
        return undefined
      },
    },
  )
  await readers[app](recorder)
  return [...names].sort()
}

/** The lines `NAME=value` of an env file, in order, without its comments. */
export const envEntries = (text: string): readonly (readonly [name: string, value: string])[] =>
  text.split("\n").flatMap((line) => {
    const match = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line)
    return match === null ? [] : [[match[1] ?? "", match[2] ?? ""] as const]
  })
