import { CliError } from "./errors.ts"
import { isObject, listOf, parseJson, textOf } from "./json-value.ts"
import { call, type Answer, type Call } from "./network.ts"

const faultsTold = 5

/** How the agent platform API is reached. */
export type Api = { readonly url: string; readonly key?: string }

/** The failure that an answer of any of the services describes, its code carried through. */
export const failureOf = (answer: Answer, url: string): CliError => {
  const body = parseJson(answer.text)
  const inner = isObject(body) ? body["error"] : undefined
  const code = textOf(isObject(inner) ? inner : body, "code")
  const details = isObject(body) ? body["details"] : undefined
  const faults = listOf(details, "faults")
  const reasons = (faults.length === 0 ? [details] : faults).map((fault) =>
    `${textOf(fault, "path")} ${textOf(fault, "reason")}`.trim(),
  )
  const reason = reasons.slice(0, faultsTold).join("; ") + (reasons.length > faultsTold ? "; and more" : "")
  const said = isObject(inner) ? textOf(inner, "message") : textOf(body, "error")
  const message = said === "" || reason === "" ? said : `${said.replace(/\.$/, "")}: ${reason}`
  if (code === "" || message === "") {
    return new CliError("unexpected-answer", `${url} answered ${answer.status} without an error that can be read.`, {
      next: "Check that this is the URL of the right service",
    })
  }
  const retryAfter = answer.headers["retry-after"]
  if (retryAfter !== undefined && (answer.status === 429 || answer.status === 503)) {
    return new CliError(code, message, { next: `Try again in ${retryAfter} s` })
  }
  const request = answer.status >= 500 ? textOf(body, "request_id") : ""
  const hint = textOf(isObject(inner) ? inner : body, "hint")
  return new CliError(code, request === "" ? message : `${message} (request ${request})`, hint === "" ? {} : { hint })
}

/** One call that is answered with success, else the API's error as it is. */
export const callApi = async (api: Api, path: string, options: Call = {}): Promise<Answer> => {
  const headers = {
    accept: "application/json",
    ...(api.key === undefined ? {} : { authorization: `Bearer ${api.key}` }),
  }
  const service = { name: "The API", url: api.url, flag: "api-url", variable: "SVC_API_URL" }
  const answer = await call(`${api.url}${path}`, { ...options, headers }, service)
  if (answer.status < 200 || answer.status >= 300) throw failureOf(answer, api.url)
  return answer
}

/** The JSON of a successful answer. */
export const jsonOf = (answer: Answer, url: string): unknown => {
  const value = parseJson(answer.text)
  if (value === undefined) {
    throw new CliError("unexpected-answer", `${url} answered ${answer.status} with something that is not JSON.`, {
      next: "Check that this is the URL of the right service",
    })
  }
  return value
}

/** The query of the next page in a Link header; the server's own idea of its URL in there is of no interest. */
const nextQuery = (link: string): string | undefined => {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(link)?.[1]
  const query = target?.split("#")[0]?.split("?")[1]
  return query === undefined || query === "" ? undefined : query
}

// More than any list of the service holds: a server whose list never ends must not fill the memory.
const listLimit = { pages: 1000, bytes: 128 * 1024 * 1024 }

const strange = (api: Api, path: string, what: string): CliError =>
  new CliError("unexpected-answer", `${api.url} answered ${path} with ${what}.`, {
    next: "Check that this is the URL of the right service",
  })

/** All pages of a list, one after the other; refuses one of over 1,000 pages or 128 MiB. */
export const readPages = async (
  api: Api,
  path: string,
  query: string,
  onPage: (count: number, headers: Answer["headers"]) => void = () => {},
): Promise<unknown[]> => {
  const items: unknown[] = []
  const seen = new Set<string>()
  let bytes = 0
  for (let next: string | undefined = query; next !== undefined && !seen.has(next);) {
    if (seen.size === listLimit.pages) throw strange(api, path, `a list of more than ${listLimit.pages} pages`)
    seen.add(next)
    const answer: Answer = await callApi(api, `${path}?${next}`)
    bytes += answer.bytes.byteLength
    if (bytes > listLimit.bytes) throw strange(api, path, `a list of more than ${listLimit.bytes / 1024 / 1024} MiB`)
    const page = jsonOf(answer, api.url)
    if (!Array.isArray(page)) throw strange(api, path, "something that is not a list")
    for (const item of page) items.push(item)
    onPage(items.length, answer.headers)
    next = nextQuery(String(answer.headers["link"] ?? ""))
  }
  return items
}
