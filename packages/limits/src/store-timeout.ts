/** The store didn't answer in time. */
export class StoreTimeout extends Error {
  override readonly name = "StoreTimeout"
}

const steps = 10

/**
 * Calls `onLate` once a reply has been waited for long enough, unless the result is called before. Only time in which the reply
 * could have been read counts: a stretch in which this process was busy with something else counts as two steps.
 * @param now a monotonic clock, in milliseconds
 */
export const startTimeout = (ms: number, now: () => number, onLate: () => void): (() => void) => {
  const stepMs = ms / steps
  let leftMs = ms
  let from = now()
  let timer: NodeJS.Timeout | undefined
  let over = false
  const late = (): void => {
    if (!over) onLate()
  }
  const wait = (): void => {
    timer = setTimeout(step, Math.min(leftMs, stepMs))
  }
  const step = (): void => {
    const time = now()
    leftMs -= Math.min(time - from, 2 * stepMs)
    from = time
    // After the timers sockets are read once more, then immediates run: a reply that is already there counts.
    if (leftMs <= 0) setImmediate(late)
    else wait()
  }
  wait()
  return () => {
    over = true
    clearTimeout(timer)
  }
}
