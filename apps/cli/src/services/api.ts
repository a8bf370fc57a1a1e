import {
  createPlatform,
  type DocsHealth,
  type Page,
  type Platform,
  type PlatformHealth,
  type RelayHealth,
} from "@svc/client"
import { type Answer as Parsed, type Call, errorOf, type Fetch, request, systemClock } from "@svc/client/http"
import { isObject } from "@svc/common/json-object"
import { CliError, onCode, serviceFailure } from "../errors.ts"
import type { Service } from "../settings/settings.ts"
import { type Target, transportTo } from "./transport.ts"

export type Api = Pick<Target, "env" | "onResponse"> & { readonly url: string; readonly key?: string }

/** A whole response of any status. */
export type Answer = Parsed & { readonly bytes: Buffer }

type Options = Partial<Pick<Call, "method" | "bearer" | "headers" | "body" | "timeoutMs">>

const usualTimeoutMs = 30_000

/** Calls a service by a request that svc-client has no function for. */
export const call = async (target: Target, path: string, options: Options = {}): Promise<Answer> => {
  const transport = transportTo(target)
  let bytes = Buffer.alloc(0)
  const fetchWhole: Fetch = async (url, init) => {
    const response = await transport(url, init)
    bytes = await response.bytes()
    return { ...response, text: async () => new TextDecoder().decode(bytes) }
  }
  const asked = { timeoutMs: usualTimeoutMs, ...options, url: target.base + path }
  return { ...(await request(fetchWhole, systemClock, asked)), bytes }
}

export const failureOf = (answer: Answer): CliError => serviceFailure(errorOf(answer))

/** Calls the API. Throws the API's error unless the call succeeds. */
export const callApi = async (
  { url, key, env, onResponse }: Api,
  path: string,
  options: Options = {},
): Promise<Answer> => {
  const answer = await call({ service: "api", base: url, env, onResponse }, path, { ...options, bearer: key })
  if (answer.status < 200 || answer.status >= 300) throw failureOf(answer)
  return answer
}

/** Makes a call that svc-client has no function for, or waits longer for. Returns the response's body. */
export const ask = async <Response>(
  api: Api,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: object,
  timeoutMs = usualTimeoutMs,
): Promise<Response> => {
  const answer = await callApi(api, path, { method, body, timeoutMs })
  if (answer.body === undefined) throw failureOf(answer)
  // The platform's tests check its responses against the document that the types are generated from.
  return answer.body as Response
}

const strange = (url: string, what: string): CliError =>
  new CliError("unexpected-answer", `${url} sent ${what}.`, { next: "Check that this is the URL of the right service" })

/**
 * What svc-client has functions for. Its errors become the tool's by `asCliError`.
 * @param heard called with each response, as the API's own `onResponse` is
 */
export const platformOf = ({ url, key, env, onResponse }: Api, heard?: Target["onResponse"]): Platform =>
  createPlatform({
    apiUrl: url,
    fetch: transportTo({
      service: "api",
      base: url,
      env,
      onResponse: (response) => {
        onResponse?.(response)
        heard?.(response)
      },
    }),
    ...(key !== undefined && { key }),
  })

// More than any list of the service holds: a list that never ends must not fill the memory.
const listLimit = { pages: 1000, bytes: 128 * 1024 * 1024 }

/** All pages of a list, one after the other. Rejects a list of over 1,000 pages or 128 MiB. */
export const readPages = async <Item>(
  api: Api,
  list: (platform: Platform, page: Page) => Promise<readonly Item[]>,
  onPage: (count: number) => void = () => {},
): Promise<Item[]> => {
  const items: Item[] = []
  let bytes = 0
  let isMore = true
  const platform = platformOf(api, ({ header, size }) => {
    bytes += size
    isMore = /;\s*rel="?next\b/i.test(header("link") ?? "")
  })
  for (let pages = 0; isMore; pages++) {
    if (pages === listLimit.pages) throw strange(api.url, `a list of more than ${listLimit.pages} pages`)
    const page = await list(platform, { limit: 100, ...(pages > 0 && { offset: items.length }) })
    if (!Array.isArray(page)) throw strange(api.url, "something that isn't a list")
    if (bytes > listLimit.bytes) throw strange(api.url, `a list of more than ${listLimit.bytes / 1024 / 1024} MiB`)
    for (const item of page) items.push(item)
    isMore &&= page.length > 0
    onPage(items.length)
  }
  return items
}

type Healths = { readonly api: PlatformHealth; readonly docs: DocsHealth; readonly relay: RelayHealth }

/** What a service reports about itself; undefined if it can't be reached in time. Another program may listen at its URL. */
export const healthOf = <Name extends Service>(
  target: Target & { readonly service: Name },
  query = "",
): Promise<Partial<Healths[Name]> | undefined> =>
  call(target, `/health${query}`, { timeoutMs: 3000 }).then(
    ({ body }) => (isObject(body) ? (body as Partial<Healths[Name]>) : undefined),
    onCode(undefined, () => undefined),
  )
