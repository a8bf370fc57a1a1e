import { createServer } from "node:net"
import { closeTo } from "@svc/common/nearest"
import settings from "../settings.json" with { type: "json" }
import { type Check, fail, type Finding, pass, warn } from "./doctor.ts"
import { ask, type Service, serviceOf } from "./requests.ts"

type Env = Readonly<Record<string, string | undefined>>

const checkNames = (env: Env): readonly Finding[] => {
  const unknown = Object.keys(env).filter((name) => name.startsWith("SVC_") && !settings.includes(name))
  return unknown.map((name) => {
    const meant = closeTo(name, settings)
    const next = meant === undefined ? "Remove it: infra/env has all settings." : `Did you mean ${meant}?`
    return warn("settings", `${name} isn't a setting, and changes nothing`, next)
  })
}

const checkProxies = (networks: readonly { readonly prefix: number; readonly family: string }[]): readonly Finding[] =>
  networks.some(({ prefix, family }) => prefix < (family === "ipv4" ? 8 : 16))
    ? [
        fail(
          "trusted-proxies",
          "SVC_TRUSTED_PROXY_CIDRS trusts strangers: whoever sends X-Forwarded-For chooses the address that is limited",
          "Set it to the networks of your proxies alone.",
        ),
      ]
    : []

const listenCode = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", ({ code }: Error & { code?: string }) => resolve(code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })

const checkPort = async (service: Service, host: string, port: number): Promise<Finding> => {
  const code = await listenCode(host, port)
  if (code === undefined) return pass("port", `PORT ${port} is free`)
  if (code !== "EADDRINUSE") {
    const next =
      code === "EACCES" ? "Set PORT to 1024 or more." : "Set HOST to an address of this machine, or to 0.0.0.0."
    return fail("port", `nothing can listen at HOST ${host}, PORT ${port} (${code})`, next)
  }
  const local = host === "0.0.0.0" ? "127.0.0.1" : host.includes(":") ? "[::1]" : host
  const answer = await ask(`http://${local}:${port}/health`)
  if ("body" in answer && serviceOf(answer.body) === service) return pass("port", `${service} runs at PORT ${port}`)
  return fail(
    "port",
    `PORT ${port} is taken by another program`,
    "Set another PORT, or stop what `ss -ltnp` shows there.",
  )
}

/** What is checked of every service: its settings' names, whom it trusts, and whether it can listen. */
export const serviceChecks = (
  service: Service,
  env: Env,
  config: {
    readonly host: string
    readonly port: number
    readonly trustedProxies: Parameters<typeof checkProxies>[0]
  },
): Readonly<Record<string, Check>> => ({
  names: async () => checkNames(env),
  "trusted-proxies": async () => checkProxies(config.trustedProxies),
  port: async () => [await checkPort(service, config.host, config.port)],
})
