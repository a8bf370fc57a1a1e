// What `pnpm start` starts, and with which settings: only settings that the environment leaves unset are filled in.
import { allocatorSettings, type Service } from "../../infra/services.ts"

export type Environment = Readonly<Record<string, string | undefined>>

export type PlannedService = {
  readonly service: Service
  readonly port: number
  readonly url: string
  readonly env: Environment
}

/** A variable that is set but empty counts as unset. */
export const isSet = (env: Environment, ...names: string[]): boolean => names.some((name) => (env[name] ?? "") !== "")

/** The settings that connect the services, which know nothing of each other. */
const wiring = (env: Environment, urls: Readonly<Record<string, string | undefined>>): Record<string, Environment> => {
  const upstreams = ["SVC_TRANSACTION_RPC_URL", "CHAIN_RPC_URL", "RPC_URL"]
  const upstream = upstreams.map((name) => env[name]).find((url) => url !== undefined && url !== "")
  const keys = ["SVC_SESSION_JWKS_URL", "SVC_SESSION_PUBLIC_KEY", "SVC_SESSION_PUBLIC_KEY_FILE"]
  return {
    docs: { SVC_DOCS_WATCH: "true", ...(upstream === undefined ? { SVC_CHAIN_URL: urls["chain"] } : {}) },
    platform: { SVC_STREAM_URL_TEMPLATE: `${urls["stream"]}/{slug}` },
    // It reads the chain that the relay sends to. Only the local one has a faucet for sample traffic.
    stream: { RPC_URL: upstream ?? urls["chain"], SVC_SAMPLE_TRAFFIC: String(upstream === undefined) },
    relay: {
      SVC_TRANSACTIONS_ENABLED: "true",
      SVC_SESSION_AUDIENCE: "transfers",
      // In separate rows: the operator's upstream or keys must not get a second source.
      ...(upstream === undefined ? { SVC_TRANSACTION_RPC_URL: urls["chain"] } : {}),
      ...(isSet(env, ...keys) ? {} : { SVC_SESSION_JWKS_URL: `${urls["platform"]}/.well-known/jwks.json` }),
    },
  }
}

/** Reports all problems at once, each with the variable to set. */
export const planStart = (
  services: readonly Service[],
  env: Environment,
): { readonly problems: readonly string[]; readonly planned: readonly PlannedService[] } => {
  const problems: string[] = []
  const portOwners = new Map<number, string>()
  const addressed = services.map((service) => {
    const text = env[service.portVariable] || String(service.defaultPort)
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (port < 1 || port > 65_535) problems.push(`${service.portVariable} must be a port, 1 to 65535`)
    const owner = portOwners.get(port)
    if (owner !== undefined)
      problems.push(`${service.portVariable} and ${owner} are both ${port}: set one to another port`)
    portOwners.set(port, service.portVariable)
    return { service, port, url: `${service.urlHost ?? "http://localhost"}:${port}` }
  })
  const filled = wiring(env, Object.fromEntries(addressed.map(({ service, url }) => [service.name, url])))
  const urls = addressed.flatMap(({ service, url }) =>
    service.urlVariable === undefined ? [] : [[service.urlVariable, url]],
  )
  const planned = addressed.map(({ service, port, url }) => {
    const defaults: Environment = { ...allocatorSettings, ...Object.fromEntries(urls), ...filled[service.name] }
    const unset = Object.entries(defaults).filter(([name]) => !isSet(env, name))
    return { service, port, url, env: { ...env, ...Object.fromEntries(unset), PORT: String(port) } }
  })
  return { problems, planned }
}
