import { longestDelayMs } from "@svc/common/longest-delay"

/** The time and random numbers that the library uses. Tests may pass their own. */
export type Clock = {
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Resolves after so many milliseconds, at most 24 days, or at once when the signal aborts; never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** At least 0, below 1. */
  readonly random: () => number
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener("abort", end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(ms, longestDelayMs))
      if (signal?.aborted) end()
      else signal?.addEventListener("abort", end)
    }),
  random: Math.random,
}
