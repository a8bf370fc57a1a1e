import { type Answer as Parsed, type Call, errorOf, request, systemClock } from "@svc/client/http"
import { CliError, serviceFailure, systemReason } from "../errors.ts"

/** A service: how errors call it, its URL, and how another URL is named. */
export type Service = { readonly name: string; readonly url: string; readonly flag: string; readonly variable: string }

/** How the agent platform API is reached. */
export type Api = { readonly url: string; readonly key?: string }

/** A whole response, whatever its status; `body` is undefined where it isn't JSON. */
export type Answer = Parsed & { readonly bytes: Uint8Array<ArrayBuffer>; readonly text: string }

type Options = Pick<Call, "method" | "bearer" | "headers" | "body">

const usualTimeoutMs = 30_000
const largestMiB = 32

const readAll = async (response: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > largestMiB * 2 ** 20) throw new Error(`the response is larger than ${largestMiB} MiB`)
    parts.push(part)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/** The system's reason at the end of a chain of causes. Where several addresses were tried, one error holds one for each. */
const reasonOf = (error: unknown): string => {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error instanceof Error && error.cause
  if (inner instanceof Error) return reasonOf(inner)
  return error instanceof Error ? error.message : systemReason(error)
}

/** One HTTP call and its whole response, of any status. A redirect is not followed: the user says where a key goes. */
export const call = async (
  url: string,
  service: Service,
  options: Options = {},
  timeoutMs = usualTimeoutMs,
): Promise<Answer> => {
  const { name, flag, variable } = service
  const another = `--${flag} or ${variable}`
  let bytes = new Uint8Array(0)
  let target: string | undefined
  const fetchWhole: typeof fetch = async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" })
    const { status, headers } = response
    if (status >= 300 && status < 400) {
      target = headers.get("location") ?? "another place"
      throw new Error(`a redirect to ${target}`)
    }
    bytes = await readAll(response)
    return new Response(bytes.length === 0 ? null : bytes, { status, headers })
  }
  try {
    const answer = await request(fetchWhole, systemClock, { ...options, url, timeoutMs })
    return { ...answer, bytes, text: new TextDecoder().decode(bytes) }
  } catch (error) {
    if (target !== undefined) {
      const said = `${name} at ${service.url} redirects to ${target}, which the tool doesn't follow.`
      throw new CliError("redirected", said, { next: `If that is right, name it with ${another}` })
    }
    throw new CliError("unreachable", `${name} at ${service.url} cannot be reached: ${reasonOf(error)}.`, {
      next: `Check that it runs (curl ${service.url}/health), or name another with ${another}`,
    })
  }
}

/** The failure that a response of any of the services describes, its code carried through. */
export const failureOf = (answer: Answer, url: string): CliError => serviceFailure(errorOf(answer), url)

/** One call to the API that succeeds, else the API's error as it is. */
export const callApi = async ({ url, key }: Api, path: string, options: Options = {}): Promise<Answer> => {
  const service = { name: "The API", url, flag: "api-url", variable: "SVC_API_URL" }
  const answer = await call(url + path, service, { ...options, bearer: key })
  if (answer.status < 200 || answer.status >= 300) throw failureOf(answer, url)
  return answer
}

const strange = (url: string, what: string): CliError =>
  new CliError("unexpected-answer", `${url} sent ${what}.`, { next: "Check that this is the URL of the right service" })

/** The JSON of a successful response. */
export const jsonOf = ({ body, status }: Answer, url: string): unknown => {
  if (body === undefined) throw strange(url, `a response of status ${status} that is not JSON`)
  return body
}

/** The query of the next page in a Link header; the server's own idea of its URL in there is of no interest. */
const nextQuery = (link: string | null): string | undefined => {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(link ?? "")?.[1]
  const query = target?.split("#")[0]?.split("?")[1]
  return query === undefined || query === "" ? undefined : query
}

// More than any list of the service holds: a server whose list never ends must not fill the memory.
const listLimit = { pages: 1000, bytes: 128 * 1024 * 1024 }

/** All pages of a list, one after the other; rejects one of over 1,000 pages or 128 MiB. */
export const readPages = async (
  api: Api,
  path: string,
  query: string,
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
    const page = jsonOf(answer, api.url)
    if (!Array.isArray(page)) throw strange(api.url, `something that is not a list at ${path}`)
    for (const item of page) items.push(item)
    onPage(items.length, answer.header)
    next = nextQuery(answer.header("link"))
  }
  return items
}
