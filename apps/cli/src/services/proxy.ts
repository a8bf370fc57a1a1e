// HTTP_PROXY, HTTPS_PROXY and NO_PROXY as curl reads them. Node 20 has nothing of its own for them.
import { request as plain, type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http"
import { request as secure } from "node:https"
import { BlockList, isIP, Socket } from "node:net"
import { connect as encrypt } from "node:tls"
import { CliError } from "../errors.ts"
import { type Environment, variable } from "../settings/settings.ts"
import { responseTo } from "./response-to.ts"

const connectMs = 30_000

/** A host as a connection needs it: URLs write IPv6 addresses in brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1")
const isEncrypted = ({ protocol }: URL): boolean => /^(?:https|wss):$/.test(protocol)
const portOf = (url: URL): string => url.port || (isEncrypted(url) ? "443" : "80")

/** Whether an entry of NO_PROXY covers a URL: a name and all below it, an address or a network, with a port or without. */
const covers = (entry: string, target: URL): boolean => {
  const [, name = "", port = portOf(target)] = /^(\[.*\]|[^:]*|[^:]*:[^:]*:.*?)(?::(\d+))?$/.exec(entry) ?? []
  if (port !== portOf(target)) return false
  const host = hostOf(target)
  const family = isIP(host)
  const given = name.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  if (family === 0) return given === "*" || `.${host}`.endsWith(`.${given.replace(/^\*?\./, "")}`)
  const [address = "", bits] = given.split("/")
  const most = family === 4 ? 32 : 128
  const length = Number(bits ?? most)
  if (isIP(address) !== family || !(length >= 0 && length <= most)) return given === "*"
  const network = new BlockList()
  network.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6")
  return network.check(host, family === 4 ? "ipv4" : "ipv6")
}

type Proxy = { readonly url: URL; readonly name: string }

/** The proxy for a URL, and the variable that sets it. Throws invalid-config. */
const proxyFor = (target: URL, env: Environment): Proxy | undefined => {
  const upper = isEncrypted(target) ? "HTTPS_PROXY" : "HTTP_PROXY"
  const name = [upper.toLowerCase(), upper].find((one) => variable(env, one) !== undefined)
  if (name === undefined) return undefined
  const exceptions = variable(env, "no_proxy") ?? variable(env, "NO_PROXY") ?? ""
  if (exceptions.split(/[\s,]+/).some((entry) => entry !== "" && covers(entry, target))) return undefined
  const text = variable(env, name) ?? ""
  const full = text.includes("://") ? text : `http://${text}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  if (url !== undefined && ["http:", "https:"].includes(url.protocol)) return { url, name }
  throw new CliError("invalid-config", `${name} isn't the URL of an HTTP proxy, such as http://proxy.example:3128.`)
}

const credentialsOf = ({ username, password }: URL): Readonly<Record<string, string>> => {
  if (username === "") return {}
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { "proxy-authorization": `Basic ${Buffer.from(text).toString("base64")}` }
}

/** What a request to a proxy says. */
type Asked = Omit<RequestOptions, "headers"> & { readonly headers: Readonly<Record<string, string>> }
type Connected = (error: Error | null, socket: Socket) => void

/** How a URL is reached through the proxy that the environment sets for it; undefined if there is none. Throws invalid-config. */
export const proxyTo = (target: URL, env: Environment) => {
  const proxy = proxyFor(target, env)
  if (proxy === undefined) return undefined
  const { url, name } = proxy
  const failure = (problem: string): CliError =>
    new CliError("proxy-failed", `The proxy ${url.origin} ${problem}.`, {
      next: `Next: correct ${name}, with user and password in its URL if the proxy asks for them, or add ${hostOf(target)} to NO_PROXY`,
    })
  const unreachable = ({ code, message }: Error & { readonly code?: string }): CliError =>
    failure(`can't be reached: ${code ?? message}`)
  const ask = ({ headers, ...options }: Asked): ClientRequest =>
    (isEncrypted(url) ? secure : plain)({
      ...options,
      host: hostOf(url),
      port: portOf(url),
      agent: false,
      headers: { ...headers, ...credentialsOf(url) },
    })

  return {
    /** Connects to the URL's host, for the option `createConnection` of a request. Its errors name the proxy. */
    createConnection: (_options: unknown, connected: Connected): undefined => {
      const host = hostOf(target)
      const authority = `${target.hostname}:${portOf(target)}`
      const asked = ask({ method: "CONNECT", path: authority, headers: { host: authority }, timeout: connectMs })
      asked.once("timeout", () => asked.destroy(new Error(`no response in ${connectMs / 1000} s`)))
      asked.once("error", (error) => connected(unreachable(error), new Socket()))
      asked.once("connect", ({ statusCode = 0 }, socket: Socket) => {
        if (statusCode !== 200) {
          socket.destroy()
          connected(failure(`rejects connections to ${authority} with status ${statusCode}`), socket)
        } else {
          connected(
            null,
            isEncrypted(target) ? encrypt({ socket, host, servername: isIP(host) === 0 ? host : "" }) : socket,
          )
        }
      })
      asked.end()
    },
    /** Sends a request that isn't encrypted. Its errors name the proxy. */
    forward: async ({ headers, ...options }: Asked, body: string | undefined): Promise<IncomingMessage> => {
      const asked = ask({ ...options, path: target.href, headers: { ...headers, host: target.host } })
      const response = await responseTo(asked, body).catch((error: unknown) => {
        throw error instanceof Error ? unreachable(error) : error
      })
      if (response.statusCode !== 407) return response
      response.destroy()
      throw failure("rejects the request with status 407")
    },
  }
}
