// Requests to the platform API: the key goes nowhere else.
import { baseUrl, errorOf, request, SvcError, systemClock } from "@svc/client/http"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

export type Asked = {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  /** Path and query, such as `/api/usage?days=30`. */
  readonly path: string
  readonly body?: object
  /** The body as JSON text, in place of `body`: numbers keep all their digits. */
  readonly json?: string
  readonly isStream?: boolean
  /** The same request with the same value is done once. */
  readonly idempotencyKey?: string
}

export type Reply<Body> = { readonly body: Body; readonly header: (name: string) => string | null }

const timeoutMs = 20_000

/** Until when a service asked for silence, and its words: for all that this page sends, whoever signs in. */
let quiet: { readonly until: number; readonly error: SvcError } | undefined

/** The latest response that succeeded: what can't be shown came with it. */
let latestRequestId = ""

/** An SvcError of anything that was thrown: a response in another shape than documented breaks what reads it. */
export const unexpected = (thrown: unknown): SvcError => {
  if (thrown instanceof SvcError) return thrown
  if (!(thrown instanceof TypeError)) return new SvcError({ status: 0, code: "console-error", message: String(thrown) })
  return new SvcError({
    status: 0,
    code: "unexpected-answer",
    message: `The console can't show a response of the platform API: ${thrown.message}`,
    hint: "Reload the page. If it fails again, tell the operator the request's id.",
    requestId: latestRequestId,
  })
}

/**
 * What sends requests with a key.
 * @param key read for each request; undefined once it is forgotten
 */
export const createApi = (apiUrl: string, key: () => string | undefined) => {
  const base = baseUrl(apiUrl, "apiUrl")
  const isPerson = key()?.startsWith("svc_sk_") === true

  const bearer = (): string => {
    const now = performance.now()
    if (quiet !== undefined && now < quiet.until) {
      const facts: ConstructorParameters<typeof SvcError>[0] = quiet.error
      const submissionState = "not_submitted"
      throw new SvcError({ ...facts, message: facts.message, retryAfterMs: quiet.until - now, submissionState })
    }
    const kept = key()
    if (kept !== undefined) return kept
    throw new SvcError({ status: 0, code: "signed-out", message: "The key was forgotten.", hint: "Sign in again." })
  }

  return {
    base,
    isPerson,
    keysPath: isPerson ? "/api/auth/keys" : "/api/agents/me/keys",
    /** Sends a request. Throws SvcError unless it succeeds with JSON. */
    ask: async <Body>({ method = "GET", path, body, json, idempotencyKey }: Asked): Promise<Reply<Body>> => {
      const send: typeof fetch = (url, init) => fetch(url, json === undefined ? init : { ...init, body: json })
      const headers = {
        ...(json !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      }
      const answer = await request(send, systemClock, {
        url: base + path,
        method,
        bearer: bearer(),
        headers,
        body,
        timeoutMs,
      })
      const isJson = typeof answer.body === "object" && answer.body !== null
      if (answer.status < 200 || answer.status >= 300 || !isJson) {
        const error = errorOf(answer)
        // Nothing is asked before the service said so.
        const until = performance.now() + (error.retryAfterMs ?? 0)
        if (until > Math.max(performance.now(), quiet?.until ?? 0)) quiet = { until, error }
        throw error
      }
      latestRequestId = answer.header("x-request-id") ?? ""
      // The platform's tests check its responses against the document that the types are generated from.
      return { body: answer.body as Body, header: answer.header }
    },
  }
}

export type Api = ReturnType<typeof createApi>

const ApiContext = createContext<Api | undefined>(undefined)
export const ApiProvider = ApiContext.Provider

export const useApi = (): Api => {
  const api = useContext(ApiContext)
  if (api === undefined) throw new Error("nobody is signed in")
  return api
}
