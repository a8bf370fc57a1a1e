import fc from "fast-check"

/**
 * Random numbers for a test that isn't a property: `next` gives one from 0 to 1, `pick` one of several values. The seed
 * is the test run's own (see fixed-seed.ts), and is given too, for the message of a failure.
 */
export const createRandom = () => {
  const [seed = 1] = fc.sample(fc.nat(), 1)
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    seed,
    next,
    pick: <Value>(values: readonly Value[]): Value | undefined => values[Math.floor(next() * values.length)],
  }
}
