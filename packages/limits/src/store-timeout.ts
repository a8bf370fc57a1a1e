/** The store didn't answer in time. */
export class StoreTimeout extends Error {
  override readonly name = "StoreTimeout"
}

const steps = 10

/**
 * Calls `onLate` after a timeout, unless the returned function is called first. Only time in which a reply could have been
 * read counts: while this process is busy, at most two steps pass.
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
    // Sockets are read after timers and before immediates, so a reply that has already arrived still counts.
    if (leftMs <= 0) setImmediate(late)
    else wait()
  }
  wait()
  return () => {
    over = true
    clearTimeout(timer)
  }
}
