import type { Delivery } from "./delivery.ts"

/** The usage of one authorized request. It contains no part of the transaction. */
export type UsageEvent = {
  /** A UUID, the same in all attempts, so the receiver can drop duplicates. */
  readonly event_id: string
  readonly occurred_at_ms: number
  readonly operation: string
  readonly result: "accepted" | "unknown" | "rejected" | "ok" | "error"
  readonly request_bytes: number
  readonly response_bytes: number
  readonly latency_ms: number
  /** The token's subject, or `anonymous`. */
  readonly subject: string
  readonly metering_key: string
  readonly key_class?: string
  readonly deployment_id?: string | number
  readonly plan?: string
}

export type UsageLoss = { readonly dropped: number; readonly undelivered: number }

const batchSize = 50
const batchAgeMs = 1000
const maxSending = 4
const flushMs = 5000

/**
 * Makes the queue that delivers usage records in batches of 50, or those of one second. It is bounded, including the batches
 * that are being sent, and in memory: a receiver that is down for long, or a crash, costs records but no requests.
 * @param onLoss called at most once a second with the number of records dropped by a full queue or lost after all attempts
 */
export const createUsage = ({
  capacity,
  delivery,
  onLoss,
}: {
  readonly capacity: number
  readonly delivery: Delivery
  readonly onLoss: (loss: UsageLoss) => void
}) => {
  let losses = { dropped: 0, undelivered: 0 }
  let lossTimer: NodeJS.Timeout | undefined
  const queue: UsageEvent[] = []
  const sending = new Set<Promise<void>>()
  let beingSent = 0
  let timer: NodeJS.Timeout | undefined

  const reportLosses = (): void => {
    clearTimeout(lossTimer)
    lossTimer = undefined
    if (losses.dropped + losses.undelivered > 0) onLoss(losses)
    losses = { dropped: 0, undelivered: 0 }
  }
  const lose = (kind: keyof UsageLoss, count: number): void => {
    losses[kind] += count
    lossTimer ??= setTimeout(reportLosses, batchAgeMs)
  }

  const send = async (batch: readonly UsageEvent[]): Promise<void> => {
    beingSent += batch.length
    if (!(await delivery.deliver(JSON.stringify({ events: batch })))) lose("undelivered", batch.length)
    beingSent -= batch.length
  }

  /** Sends the full batches, and with `all` also the last one. */
  const pump = (all: boolean): void => {
    while (queue.length >= (all ? 1 : batchSize) && sending.size < maxSending) {
      const running: Promise<void> = send(queue.splice(0, batchSize)).finally(() => {
        sending.delete(running)
        // Without a timer, the other records are older than a batch may be.
        pump(timer === undefined)
      })
      sending.add(running)
    }
  }

  const arm = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      pump(true)
    }, batchAgeMs)
  }

  return {
    /** Queues a record and returns immediately. A full queue drops it. */
    record: (event: UsageEvent): void => {
      if (queue.length + beingSent >= capacity) return lose("dropped", 1)
      queue.push(event)
      arm()
      pump(false)
    },
    /** Sends the queued records, for at most 5 s. The others are lost. */
    flush: async (): Promise<void> => {
      clearTimeout(timer)
      timer = undefined
      const deadline = setTimeout(delivery.stop, flushMs)
      delivery.hurry()
      pump(true)
      while (sending.size > 0) await Promise.all(sending)
      clearTimeout(deadline)
      lose("undelivered", queue.splice(0).length)
      reportLosses()
    },
  }
}

export type Usage = ReturnType<typeof createUsage>
