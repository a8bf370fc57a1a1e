import { clientSpan, type Fail, outsideRequests } from "@svc/telemetry"
import type { Agent } from "undici"

/** Posts one batch. Returns the status; rejects if the transport fails. */
export type PostUsage = (body: string, signal: AbortSignal) => Promise<number>

const maxTries = 5
const backoffMs = 500
const tryTimeoutMs = 5000

const isSuccess = (status: number): boolean => status >= 200 && status < 300
const isRetryable = (status: number): boolean => status === 408 || status === 429 || status >= 500

export const createPostUsage = (agent: Agent, endpoint: string, token: string): PostUsage => {
  const { origin, pathname, search } = new URL(endpoint)
  const post = async (body: string, signal: AbortSignal, fail: Fail): Promise<number> => {
    const { statusCode, body: rest } = await agent.request({
      origin,
      path: pathname + search,
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body,
      signal,
    })
    await rest.dump()
    if (!isSuccess(statusCode)) fail(String(statusCode), { "http.response.status_code": statusCode })
    return statusCode
  }
  // A batch has the records of many requests, and is sent after they end.
  return (body, signal) =>
    outsideRequests(() => clientSpan("POST usage records", {}, (fail) => post(body, signal, fail)))
}

/**
 * Makes the delivery of a batch, in at most 5 attempts with increasing delays.
 * @param random returns a number from 0 to 1, for the jitter
 */
export const createDelivery = (post: PostUsage, random: () => number) => {
  const stop = new AbortController()
  let hurry = new AbortController()

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const { signal } = hurry
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener("abort", done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal.addEventListener("abort", done)
    })

  return {
    /** Resolves to true if the batch arrived. */
    deliver: async (body: string): Promise<boolean> => {
      for (let attempt = 0; attempt < maxTries && !stop.signal.aborted; attempt++) {
        if (attempt > 0) await pause(backoffMs * 2 ** (attempt - 1) * (0.5 + random() / 2))
        try {
          const status = await post(body, AbortSignal.any([stop.signal, AbortSignal.timeout(tryTimeoutMs)]))
          if (isSuccess(status)) return true
          if (!isRetryable(status)) return false
        } catch {
          // A failed transport is like a 5xx.
        }
      }
      return false
    },
    /** Ends the current delays; later ones are complete again. */
    hurry: (): void => {
      hurry.abort()
      hurry = new AbortController()
    },
    /** Stops the attempts in progress. */
    stop: (): void => {
      stop.abort()
      hurry.abort()
    },
  }
}

export type Delivery = ReturnType<typeof createDelivery>
