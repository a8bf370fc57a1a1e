import { request as plain, type IncomingMessage } from "node:http"
import { request as secure } from "node:https"
import { gunzipSync } from "node:zlib"
import type { Fetch } from "@svc/client/http"
import { isLoopback } from "@svc/common/loopback"
import { readAtMost } from "@svc/common/read-at-most"
import { CliError, unreachable } from "../errors.ts"
import { type Environment, type Service, variable } from "../settings/settings.ts"
import { responseTo } from "./response-to.ts"

/** Reads a header of a response; null if it lacks the header. */
type Header = (name: string) => string | null

/** A service at a URL, and what is told of each whole response. */
export type Target = {
  readonly service: Service
  readonly base: string
  readonly env: Environment
  readonly onResponse?: ((response: { readonly header: Header; readonly size: number }) => void) | undefined
}

type Init = Parameters<Fetch>[1]

const largest = 32 * 2 ** 20
const tooLarge = "the response is larger than 32 MiB"
const proxyVariables = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"]

/** The proxy that the environment sets for a URL; undefined if the URL is reached directly, as this machine always is. */
export const proxyTo = async (url: URL, env: Environment) => {
  if (isLoopback(url.hostname) || proxyVariables.every((name) => variable(env, name) === undefined)) return undefined
  return (await import("./proxy.ts")).proxyTo(url, env)
}

/** Node's own HTTP: `fetch` first loads more than all the rest that a command runs. */
const send = async (url: URL, { method, signal, headers, body }: Init, env: Environment): Promise<IncomingMessage> => {
  const options = { method, signal, headers: { "accept-encoding": "gzip", ...headers } }
  const proxy = await proxyTo(url, env)
  if (url.protocol === "https:")
    return responseTo(secure(url, { ...options, createConnection: proxy?.createConnection }), body)
  return proxy === undefined ? responseTo(plain(url, options), body) : proxy.forward(options, body)
}

const wholeOf = async (response: IncomingMessage): Promise<Buffer<ArrayBuffer>> => {
  const bytes = await readAtMost({ body: response }, largest, tooLarge)
  if (response.headers["content-encoding"] !== "gzip" || bytes.length === 0) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: largest })
  } catch (error) {
    throw error instanceof RangeError ? new Error(tooLarge) : error
  }
}

const redirected = (service: Service, base: string, target: string): CliError =>
  new CliError("redirected", `${base} redirects to ${target}, and svc doesn't follow redirects.`, {
    next: `If that URL is right, set it with --${service}-url or SVC_${service.toUpperCase()}_URL`,
  })

/**
 * The `fetch` of svc-client for one service. It doesn't follow redirects: the user decides where a key goes. Its errors are those
 * of the tool, and name the service.
 */
export const transportTo = ({ service, base, env, onResponse }: Target) => {
  const asFailure = (error: unknown): never => {
    throw unreachable(error, service, base)
  }
  return async (url: string, init: Init) => {
    const response = await send(new URL(url), init, env).catch(asFailure)
    const status = response.statusCode ?? 0
    const header: Header = (name) => response.headersDistinct[name.toLowerCase()]?.join(", ") ?? null
    if (status >= 300 && status < 400) throw redirected(service, base, header("location") ?? "another URL")
    const bytes = async (): Promise<Buffer<ArrayBuffer>> => {
      const whole = await wholeOf(response).catch(asFailure)
      onResponse?.({ header, size: whole.length })
      return whole
    }
    return {
      status,
      headers: { get: header },
      bytes,
      text: async () => new TextDecoder().decode(await bytes()),
      body: {
        getReader: () => {
          const parts: AsyncIterator<Uint8Array, undefined> = response[Symbol.asyncIterator]()
          return { read: () => parts.next() }
        },
      },
    }
  }
}
