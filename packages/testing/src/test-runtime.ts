import { randomBytes, randomUUID } from "node:crypto"

/** What a service is given by its process, with real clocks and randomness, and these variables alone. */
export const testRuntime = (env: Readonly<Record<string, string | undefined>>) => ({
  env,
  terminal: false,
  wallClock: () => Date.now(),
  now: () => performance.now(),
  random: Math.random,
  randomBytes,
  randomId: randomUUID,
})
