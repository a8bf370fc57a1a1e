/** Requests of the last 60 seconds, counted by the second. */
export type Window = {
  /** Memory that windows share, and where this window's part begins. */
  readonly counts: Uint32Array
  readonly start: number
  total: number
  /** The newest second. Counts more than 60 s older have been dropped. */
  second: number
}

export const windowSeconds = 60
// A second leaves the window only when all of it is over 60 s old.
const seconds = windowSeconds + 1
const windowsPerSlab = 1024

/** Makes empty windows of 244 bytes. Separate arrays would take twice as much. */
export const createWindows = () => {
  const free: { counts: Uint32Array; start: number }[] = []
  return {
    open: (second: number): Window => {
      if (free.length === 0) {
        const counts = new Uint32Array(seconds * windowsPerSlab)
        for (let start = counts.length - seconds; start >= 0; start -= seconds) free.push({ counts, start })
      }
      const { counts, start } = free.pop() ?? { counts: new Uint32Array(seconds), start: 0 }
      return { counts, start, total: 0, second }
    },
    close: ({ counts, start }: Window): void => {
      counts.fill(0, start, start + seconds)
      free.push({ counts, start })
    },
  }
}

const indexOf = (window: Window, second: number): number => window.start + (((second % seconds) + seconds) % seconds)

/** Moves the window to this second and drops counts that are too old. */
export const advance = (window: Window, second: number): void => {
  const steps = Math.min(seconds, second - window.second)
  for (let i = 1; i <= steps; i++) {
    const index = indexOf(window, window.second + i)
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
    if ((window.counts[indexOf(window, second)] ?? 0) > 0) return change(window, second, -1)
  }
}

const change = (window: Window, second: number, by: 1 | -1): void => {
  const index = indexOf(window, second)
  window.counts[index] = (window.counts[index] ?? 0) + by
  window.total += by
}

/** The second from which at least `count` of the counted requests are gone. */
export const secondWhenGone = (window: Window, count: number): number => {
  let gone = 0
  for (let second = window.second - windowSeconds; second <= window.second; second++) {
    gone += window.counts[indexOf(window, second)] ?? 0
    if (gone >= count) return second + seconds
  }
  return window.second + windowSeconds
}
