import { setImmediate as turn } from "node:timers/promises"
import type { Clock } from "../src/index.ts"

type Sleeper = { readonly at: number; readonly wake: () => void }

/** Time that passes only when nobody has anything else to do: an hour of waiting is over at once. */
export const createVirtualClock = () => {
  let now = 0
  let sleepers: Sleeper[] = []
  const clock: Clock = {
    now: () => now,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = {
          at: now + ms,
          wake: () => {
            sleepers = sleepers.filter((other) => other !== sleeper)
            resolve()
          },
        }
        sleepers.push(sleeper)
        if (signal?.aborted === true) sleeper.wake()
        signal?.addEventListener("abort", sleeper.wake)
      }),
  }
  return {
    clock,
    /** Lets time pass until the promise settles. */
    run: async <Value>(promise: Promise<Value>): Promise<Value> => {
      let settled = false
      const mark = (): void => void (settled = true)
      promise.then(mark, mark)
      for (;;) {
        await turn()
        if (settled) return promise
        const [next] = sleepers.toSorted((a, b) => a.at - b.at)
        if (next === undefined) continue
        now = Math.max(now, next.at)
        next.wake()
      }
    },
  }
}
