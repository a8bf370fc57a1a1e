import { request as plain, type IncomingMessage } from "node:http"
import { request as secure } from "node:https"
import { gunzipSync } from "node:zlib"
import { type Answer as Parsed, type Call, errorOf, request, type SendRequest, systemClock } from "@svc/client/http"
import { readAtMost } from "@svc/common/read-at-most"
import { CliError, onCode, serviceFailure, unreachable } from "../errors.ts"
import type { Service } from "../settings/settings.ts"

export type Api = { readonly url: string; readonly key?: string }

/** A whole response of any status. */
export type Answer = Parsed & { readonly bytes: Buffer; readonly text: string }

type Options = Partial<Pick<Call, "method" | "bearer" | "headers" | "body" | "timeoutMs">>

const usualTimeoutMs = 30_000
const largest = 32 * 2 ** 20
const tooLarge = "the response is larger than 32 MiB"

/** Node's own HTTP: `fetch` first loads more than all the rest that a command runs. */
const send = (url: string, { method, headers, signal, body }: Parameters<SendRequest>[1]): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const options = { method, signal, headers: { ...headers, "accept-encoding": "gzip" } }
    const sent = url.startsWith("https:") ? secure(url, options, resolve) : plain(url, options, resolve)
    sent.on("error", reject).end(body)
  })

const unpacked = async (response: IncomingMessage): Promise<Buffer<ArrayBuffer>> => {
  const bytes = await readAtMost({ body: response }, largest, tooLarge)
  if (response.headers["content-encoding"] !== "gzip" || bytes.length === 0) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: largest })
  } catch (error) {
    throw error instanceof RangeError ? new Error(tooLarge) : error
  }
}

/** Calls a service through svc-client's HTTP. It doesn't follow redirects: the user decides where a key goes. */
export const call = async (service: Service, base: string, path: string, options: Options = {}): Promise<Answer> => {
  let whole = { bytes: Buffer.alloc(0), text: "" }
  const fetchWhole: SendRequest = async (url, init) => {
    const response = await send(url, init)
    const bytes = await unpacked(response)
    const text = new TextDecoder().decode(bytes)
    whole = { bytes, text }
    const get = (name: string) => response.headersDistinct[name.toLowerCase()]?.join(", ") ?? null
    return { status: response.statusCode ?? 0, headers: { get }, text: async () => text }
  }
  const asked = { timeoutMs: usualTimeoutMs, ...options, url: base + path }
  const answer = await request(fetchWhole, systemClock, asked).catch((error: unknown) => {
    throw unreachable(error, service, base)
  })
  if (answer.status >= 300 && answer.status < 400) {
    const target = answer.header("location") ?? "another URL"
    throw new CliError("redirected", `${base} redirects to ${target}, and svc doesn't follow redirects.`, {
      next: `If that URL is right, set it with --${service}-url or SVC_${service.toUpperCase()}_URL`,
    })
  }
  return { ...answer, ...whole }
}

/** What a service tells of itself; undefined if it can't be reached in time. */
export const healthOf = (service: Service, base: string, query = "", timeoutMs = 3000): Promise<unknown> =>
  call(service, base, `/health${query}`, { timeoutMs }).then(
    ({ body }) => body,
    onCode(undefined, () => undefined),
  )

export const failureOf = (answer: Answer, url: string): CliError => serviceFailure(errorOf(answer), url)

/** Calls the API. Throws the API's error unless the call succeeds. */
export const callApi = async ({ url, key }: Api, path: string, options: Options = {}): Promise<Answer> => {
  const answer = await call("api", url, path, { ...options, bearer: key })
  if (answer.status < 200 || answer.status >= 300) throw failureOf(answer, url)
  return answer
}

const strange = (url: string, what: string): CliError =>
  new CliError("unexpected-answer", `${url} sent ${what}.`, { next: "Check that this is the URL of the right service" })

export const callJson = async (api: Api, path: string, options: Options = {}): Promise<unknown> => {
  const { body, status } = await callApi(api, path, options)
  if (body === undefined) throw strange(api.url, `a response with status ${status} that isn't JSON`)
  return body
}

/** The query of the next page in a Link header. The server may know itself by another URL, so only the query counts. */
const nextQuery = (link: string | null): string | undefined => {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(link ?? "")?.[1]
  const query = target?.split("#")[0]?.split("?")[1]
  return query === "" ? undefined : query
}

// More than any list of the service holds: a list that never ends must not fill the memory.
const listLimit = { pages: 1000, bytes: 128 * 1024 * 1024 }

/** All pages of a list, one after the other. Rejects a list of over 1,000 pages or 128 MiB. */
export const readPages = async (
  api: Api,
  path: string,
  query = "limit=100",
  onPage: (count: number, header: Answer["header"]) => void = () => {},
): Promise<unknown[]> => {
  const items: unknown[] = []
  const seen = new Set<string>()
  let bytes = 0
  for (let next: string | undefined = query; next !== undefined && !seen.has(next);) {
    if (seen.size === listLimit.pages) throw strange(api.url, `a list of more than ${listLimit.pages} pages at ${path}`)
    seen.add(next)
    const answer: Answer = await callApi(api, `${path}?${next}`)
    bytes += answer.bytes.byteLength
    if (bytes > listLimit.bytes)
      throw strange(api.url, `a list of more than ${listLimit.bytes / 1024 / 1024} MiB at ${path}`)
    if (!Array.isArray(answer.body)) throw strange(api.url, `something that isn't a list at ${path}`)
    for (const item of answer.body) items.push(item)
    onPage(items.length, answer.header)
    next = nextQuery(answer.header("link"))
  }
  return items
}
