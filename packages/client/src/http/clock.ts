/** The time and random numbers that the library uses. Tests may pass their own. */
export type Clock = {
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Resolves after so many milliseconds, or at once when the signal aborts; never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** At least 0, below 1. */
  readonly random: () => number
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve()
        return
      }
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener("abort", end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal?.addEventListener("abort", end)
    }),
  random: () => Math.random(),
}
