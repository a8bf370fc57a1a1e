import { readFileSync } from "node:fs"
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

const modes = new Set(["", "production", "development", "test"])
const checkEnvironment = ({ NODE_ENV = "", NODE_EXTRA_CA_CERTS: file = "" }: Env): readonly Finding[] => {
  const found: Finding[] = []
  if (!modes.has(NODE_ENV))
    found.push(warn("settings", `NODE_ENV ${JSON.stringify(NODE_ENV)} isn't production`, "Set it to production."))
  // Node only warns of it.
  const { text, code } = file === "" ? {} : readText(file)
  if (code !== undefined) {
    const next = "Correct its path, or its mode: the service's user must be able to read it."
    found.push(fail("settings", `NODE_EXTRA_CA_CERTS: the file can't be read (${code})`, next))
  } else if (text !== undefined && !/^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/m.test(text)) {
    const next = "Convert it to PEM: openssl x509 -inform der -in FILE -out FILE.pem."
    found.push(fail("settings", "NODE_EXTRA_CA_CERTS: the file has no certificate in PEM, so Node ignores it", next))
  }
  return found
}

/** A file's text, or the code of why it can't be read. */
const readText = (path: string): { readonly text?: string; readonly code?: string } => {
  try {
    return { text: readFileSync(path, "latin1") }
  } catch (error) {
    return { code: String(Object(error).code) }
  }
}

// What a service has open besides its clients' connections.
const ownFiles = 64
const checkOpenFiles = (connections: number): readonly Finding[] => {
  // The hard limit, to which Node raises the other. Linux alone has this file.
  const { text: limits = "" } = readText("/proc/self/limits")
  const most = Number(/^Max open files +\S+ +(\d+)/m.exec(limits)?.[1] ?? Infinity)
  if (most >= connections + ownFiles) return []
  const text = `this process can open ${most} files, and SVC_HTTP_MAX_CONNECTIONS allows ${connections} connections`
  const next = "Raise the limit (LimitNOFILE of systemd, `ulimit -n` of a shell), or lower SVC_HTTP_MAX_CONNECTIONS."
  return [warn("open-files", text, next)]
}

const checkProxies = (
  networks: readonly { readonly prefix: number; readonly family: string }[],
): readonly Finding[] => {
  if (!networks.some(({ prefix, family }) => prefix < (family === "ipv4" ? 8 : 16))) return []
  const text =
    "SVC_TRUSTED_PROXY_CIDRS trusts strangers: whoever sends X-Forwarded-For chooses the address that is limited"
  return [fail("trusted-proxies", text, "Set it to the networks of your proxies alone.")]
}

const listenCode = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", ({ code }: Error & { code?: string }) => resolve(code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })

const checkPort = async (service: Service, host: string, setting: string, port: number): Promise<Finding> => {
  const code = await listenCode(host, port)
  if (code === undefined) return pass("port", `${setting} ${port} is free`)
  if (code !== "EADDRINUSE") {
    const next =
      code === "EACCES" ? `Set ${setting} to 1024 or more.` : "Set HOST to an address of this machine, or to 0.0.0.0."
    return fail("port", `nothing can listen at HOST ${host}, ${setting} ${port} (${code})`, next)
  }
  const hosts = { "0.0.0.0": ["127.0.0.1"], "::": ["[::1]", "127.0.0.1"] }[host] ?? [
    host.includes(":") ? `[${host}]` : host,
  ]
  const answers = await Promise.all(hosts.map((one) => ask(`http://${one}:${port}/health`)))
  const own = answers.find((answer) => "body" in answer && serviceOf(answer.body) === service)
  if (own !== undefined) {
    const text = `${service} runs at ${setting} ${port}`
    if (!("status" in own) || own.status !== 503) return pass("port", text)
    return warn("port", `${text}, and its /health returns 503`, "Its log has the reason: the database can't be used.")
  }
  const next = `Set another ${setting}, or stop what \`ss -ltnp\` shows there.`
  return fail("port", `${setting} ${port} is taken by another program`, next)
}

const checkPorts = async (
  service: Service,
  { host, port, probePort }: { readonly host: string; readonly port: number; readonly probePort: number | undefined },
): Promise<readonly Finding[]> => {
  const main = await checkPort(service, host, "PORT", port)
  if (probePort === undefined) return [main]
  if (probePort === port)
    return [fail("port", `PORT and SVC_PROBE_PORT are both ${port}`, "Set SVC_PROBE_PORT to another port.")]
  return [main, await checkPort(service, host, "SVC_PROBE_PORT", probePort)]
}

/** What is checked of every service: its settings' names, how many files it can open, whom it trusts, and whether it can listen. */
export const serviceChecks = (
  service: Service,
  env: Env,
  config: {
    readonly host: string
    readonly port: number
    readonly probePort: number | undefined
    readonly bounds: { readonly connections: number }
    readonly trustedProxies: Parameters<typeof checkProxies>[0]
  },
): Readonly<Record<string, Check>> => ({
  names: async () => [...checkNames(env), ...checkEnvironment(env)],
  "open-files": async () => checkOpenFiles(config.bounds.connections),
  "trusted-proxies": async () => checkProxies(config.trustedProxies),
  port: () => checkPorts(service, config),
})
