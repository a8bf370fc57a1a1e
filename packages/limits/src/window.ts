/** Requests of the last 60 seconds, counted by the second. */
export type Window = {
  readonly counts: Uint32Array
  total: number
  /** The newest second. Counts more than 60 s older have been dropped. */
  second: number
}

export const windowSeconds = 60
// A second leaves the window only when all of it is over 60 s old.
const seconds = windowSeconds + 1

export const openWindow = (second: number): Window => ({ counts: new Uint32Array(seconds), total: 0, second })

const indexOf = (second: number): number => ((second % seconds) + seconds) % seconds

/** Moves the window to this second and drops counts that are too old. */
export const advance = (window: Window, second: number): void => {
  const steps = Math.min(seconds, second - window.second)
  for (let i = 1; i <= steps; i++) {
    const index = indexOf(window.second + i)
    window.total -= window.counts[index] ?? 0
    window.counts[index] = 0
  }
  window.second = Math.max(window.second, second)
}

/** Counts one request. */
export const increment = (window: Window): void => change(window, window.second, 1)

/** Removes the newest count, if there is one. */
export const decrement = (window: Window): void => {
  for (let second = window.second; second > window.second - seconds; second--) {
    if ((window.counts[indexOf(second)] ?? 0) > 0) return change(window, second, -1)
  }
}

const change = (window: Window, second: number, by: 1 | -1): void => {
  const index = indexOf(second)
  window.counts[index] = (window.counts[index] ?? 0) + by
  window.total += by
}

/** The second from which at least `count` of the counted requests are gone. */
export const secondWhenGone = (window: Window, count: number): number => {
  let gone = 0
  for (let second = window.second - windowSeconds; second <= window.second; second++) {
    gone += window.counts[indexOf(second)] ?? 0
    if (gone >= count) return second + seconds
  }
  return window.second + windowSeconds
}
