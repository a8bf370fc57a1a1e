import type { Delivery } from "./delivery.ts"

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

export type UsageLoss = { readonly dropped: number; readonly undelivered: number }

const batchSize = 50
const batchAgeMs = 1000
const maxSending = 4
const flushMs = 5000

/** Adds up what was lost, and tells it at most once a second. */
const createLossReport = (onLoss: (loss: UsageLoss) => void) => {
  let loss = { dropped: 0, undelivered: 0 }
  let timer: NodeJS.Timeout | undefined
  const tell = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (loss.dropped + loss.undelivered > 0) onLoss(loss)
    loss = { dropped: 0, undelivered: 0 }
  }
  return {
    add: (kind: keyof UsageLoss, count: number): void => {
      loss[kind] += count
      timer ??= setTimeout(tell, batchAgeMs)
    },
    tell,
  }
}

/**
 * Makes the queue that delivers usage records in batches of 50, or what came within 1 s. It is bounded, what is being
 * sent included, and lives in memory: a receiver that is down for long, or a crash, loses records, never requests.
 * @param onLoss told about records dropped from a full queue and given up after their tries, at most once a second
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
  const report = createLossReport(onLoss)
  const queue: UsageEvent[] = []
  const sending = new Set<Promise<void>>()
  let beingSent = 0
  let timer: NodeJS.Timeout | undefined

  const send = async (batch: readonly UsageEvent[]): Promise<void> => {
    beingSent += batch.length
    if (!(await delivery.deliver(JSON.stringify({ events: batch })))) report.add("undelivered", batch.length)
    beingSent -= batch.length
  }

  /** Sends what it can: full batches, and with `all` the rest too. */
  const pump = (all: boolean): void => {
    while (queue.length >= (all ? 1 : batchSize) && sending.size < maxSending) {
      const running: Promise<void> = send(queue.splice(0, batchSize)).finally(() => {
        sending.delete(running)
        // With no timer set, the rest is older than a batch may get.
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
    /** Queues a record and returns at once; a full queue drops it. */
    record: (event: UsageEvent): void => {
      if (queue.length + beingSent >= capacity) return report.add("dropped", 1)
      queue.push(event)
      arm()
      pump(false)
    },
    /** Sends what is queued, for at most 5 s; what is left is lost. */
    flush: async (): Promise<void> => {
      clearTimeout(timer)
      timer = undefined
      const deadline = setTimeout(delivery.stop, flushMs)
      delivery.hurry()
      pump(true)
      while (sending.size > 0) await Promise.all(sending)
      clearTimeout(deadline)
      report.add("undelivered", queue.splice(0).length)
      report.tell()
    },
  }
}

export type Usage = ReturnType<typeof createUsage>
