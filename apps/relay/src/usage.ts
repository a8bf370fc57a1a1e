import type { Agent } from "undici"

/** What one authorized request used. Holds nothing of the transaction. */
export type UsageEvent = {
  /** UUID, the same over all tries: the receiver can drop repeats. */
  readonly event_id: string
  readonly occurred_at_ms: number
  readonly operation: string
  readonly result: "accepted" | "unknown" | "rejected" | "ok" | "error"
  readonly request_bytes: number
  readonly response_bytes: number
  readonly latency_ms: number
  readonly subject?: string
  readonly metering_key?: string
  readonly key_class?: string
  readonly deployment_id?: string | number
  readonly plan?: string
}

export type Usage = {
  /** Queues a record and returns at once; a full queue drops it. */
  readonly record: (event: UsageEvent) => void
  /** Sends what is queued, for at most 5 s; what is left is lost. */
  readonly flush: () => Promise<void>
}

/** Posts one batch; gives the status, or rejects when the transport failed. */
export type PostUsage = (body: string, signal: AbortSignal) => Promise<number>

const batchSize = 50
const batchAgeMs = 1000
const maxSending = 4
const maxTries = 5
const backoffMs = 500
const tryTimeoutMs = 5000
const flushMs = 5000

const isRetryable = (status: number): boolean => status === 408 || status === 429 || status >= 500

export const createPostUsage = (agent: Agent, endpoint: string, token: string): PostUsage => {
  const { origin, pathname, search } = new URL(endpoint)
  return async (body, signal) => {
    const { statusCode, body: answer } = await agent.request({
      origin,
      path: pathname + search,
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body,
      signal,
    })
    await answer.dump()
    return statusCode
  }
}

/**
 * Makes the queue that delivers usage records in batches of 50, or what came within 1 s. It is bounded, what is being
 * sent included, and lives in memory: a receiver that is down for long, or a crash, loses records, never requests.
 * @param onLoss told about records dropped from a full queue and given up after their tries, at most once a second
 */
export const createUsage = ({
  capacity,
  post,
  random,
  onLoss,
}: {
  readonly capacity: number
  readonly post: PostUsage
  /** From 0 to 1, for the jitter. */
  readonly random: () => number
  readonly onLoss: (loss: { readonly dropped: number; readonly undelivered: number }) => void
}): Usage => {
  const queue: UsageEvent[] = []
  const stop = new AbortController()
  const sending = new Set<Promise<void>>()
  let held = 0
  let loss = { dropped: 0, undelivered: 0 }
  let timer: NodeJS.Timeout | undefined
  let overdue = false
  let wake = () => {}
  let woken = new Promise<void>((resolve) => (wake = resolve))

  const tell = (): void => {
    if (loss.dropped + loss.undelivered > 0) onLoss(loss)
    loss = { dropped: 0, undelivered: 0 }
  }

  const pause = async (attempt: number): Promise<void> => {
    let waiting: NodeJS.Timeout | undefined
    const ms = backoffMs * 2 ** attempt * (0.5 + random() / 2)
    await Promise.race([woken, new Promise<void>((resolve) => (waiting = setTimeout(resolve, ms)))])
    clearTimeout(waiting)
  }

  const deliver = async (batch: readonly UsageEvent[]): Promise<boolean> => {
    const body = JSON.stringify({ events: batch })
    for (let attempt = 0; attempt < maxTries && !stop.signal.aborted; attempt++) {
      if (attempt > 0) await pause(attempt - 1)
      try {
        const status = await post(body, AbortSignal.any([stop.signal, AbortSignal.timeout(tryTimeoutMs)]))
        if (status >= 200 && status < 300) return true
        if (!isRetryable(status)) return false
      } catch {
        // The transport failed: as good as a 5xx.
      }
    }
    return false
  }

  const send = async (batch: readonly UsageEvent[]): Promise<void> => {
    if (!(await deliver(batch))) loss.undelivered += batch.length
    held -= batch.length
  }

  const pump = (): void => {
    while (queue.length > 0 && sending.size < maxSending) {
      const batch = queue.splice(0, batchSize)
      held += batch.length
      const running: Promise<void> = send(batch).finally(() => {
        sending.delete(running)
        if (overdue || queue.length >= batchSize) pump()
        if (loss.undelivered > 0) arm()
      })
      sending.add(running)
    }
    overdue &&= queue.length > 0
  }

  const arm = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      overdue = queue.length > 0
      pump()
      tell()
    }, batchAgeMs)
  }

  return {
    record: (event) => {
      arm()
      if (queue.length + held >= capacity) loss.dropped++
      else if (queue.push(event) >= batchSize) pump()
    },
    flush: async () => {
      clearTimeout(timer)
      const deadline = setTimeout(() => {
        stop.abort()
        wake()
      }, flushMs)
      // Whoever waits for its next try takes it now; the waits after that are real again.
      wake()
      woken = new Promise((resolve) => (wake = resolve))
      overdue = true
      pump()
      while (sending.size > 0 && !stop.signal.aborted) await Promise.all(sending)
      clearTimeout(deadline)
      await Promise.all(sending)
      clearTimeout(timer)
      loss.undelivered += queue.splice(0).length
      tell()
    },
  }
}
