import { full } from "@svc/testing"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type Clock, createJournal, createRelay, memoryStore, type Store } from "../src/index.ts"
import { createFakeChain, type Fate } from "./fake-chain.ts"
import { createPayer, newAddress } from "./payments.ts"
import { scriptedRelay } from "./scripted-relay.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const payer = createPayer()
const id = "invoice-42"

/**
 * One id on one chain with one store. `run` starts a process that makes `delay` at each of its steps and dies at step `dieAt`
 * (before or after what the step does); it resolves with the number of its steps, or undefined where it died.
 */
const createWorld = (fate: Fate) => {
  const virtual = createVirtualClock()
  const chain = createFakeChain(virtual.clock, fate)
  const store = memoryStore()
  const recipient = newAddress()

  const run = async (dieAt = Infinity, delay: () => number = () => 0): Promise<number | undefined> => {
    let steps = 0
    let die = (): void => {}
    const died = new Promise<undefined>((resolve) => (die = () => resolve(undefined)))
    const step = async (): Promise<void> => {
      steps++
      if (steps === dieAt) die()
      if (steps >= dieAt) await new Promise<never>(() => {})
      const ms = delay()
      if (ms > 0) await virtual.clock.sleep(ms)
    }
    const around = async <Value>(work: () => Value | Promise<Value>): Promise<Value> => {
      await step()
      const value = await work()
      await step()
      return value
    }
    const clock: Clock = {
      ...virtual.clock,
      sleep: (ms, signal) => (steps >= dieAt ? new Promise<never>(() => {}) : virtual.clock.sleep(ms, signal)),
    }
    const { fetch, session } = scriptedRelay(virtual.clock, chain.answer)
    const stepping: Store = {
      ...store,
      get: (...args) => around(() => store.get(...args)),
      put: (...args) => around(() => store.put(...args)),
    }
    const relay = createRelay({
      relayUrl: "http://relay.test",
      session,
      clock,
      fetch: (...args) => around(() => fetch(...args)),
    })
    const journal = createJournal({ relay, store: stepping, clock })
    const paid = journal.submitOnce(id, ({ blockhash }) => payer.transfer({ recipient, lamports: 1n, blockhash }))
    return Promise.race([paid.then(() => steps), died])
  }
  return { run, virtual, received: () => chain.received(recipient) }
}

/** What becomes of the copies of a payment's attempts, in the order of the signatures. */
const fates: Readonly<Record<string, () => Fate>> = {
  "every copy lands": () => () => 100,
  "the first copy is lost": () => {
    let copies = 0
    return () => (copies++ === 0 ? undefined : 100)
  },
  "copies land 50 seconds late": () => () => 50_000,
  "the first attempt is lost": () => {
    let first: string | undefined
    return (signature) => (signature === (first ??= signature) ? undefined : 100)
  },
}

/** Kills a first process at each of its steps, and in half of the cases a second one too; gives how often it paid otherwise than once. */
const wrongPayments = async (fate: () => Fate, most: number): Promise<number> => {
  let wrong = 0
  for (let dieAt = 1; dieAt <= most; dieAt++) {
    const { run, virtual, received } = createWorld(fate())
    const isOver = (await virtual.run(run(dieAt))) !== undefined
    // Later there is another blockhash, so another transaction.
    const later = () => virtual.run(virtual.clock.sleep(1000))
    await later()
    if (dieAt % 2 === 0) await virtual.run(run(1 + ((dieAt * 7) % 23)))
    await later()
    await virtual.run(run())
    if (received() !== 1) wrong++
    if (isOver) break
  }
  return wrong
}

describe.each(Object.entries(fates))("where %s", (_, fate) => {
  test("a process that dies at any step and runs again has paid once", async () => {
    expect(await wrongPayments(fate, full ? 1000 : 40)).toBe(0)
  })
})

test("processes that race for one id, and die at any step, pay once", async () => {
  const process = fc.record({
    dieAt: fc.integer({ min: 1, max: 60 }),
    delays: fc.infiniteStream(fc.constantFrom(0, 0, 10, 300, 5000)),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(process, { minLength: 2, maxLength: 4 }),
      fc.constantFrom(...Object.values(fates)),
      async (processes, fate) => {
        const { run, virtual, received } = createWorld(fate())
        const next = (delays: Iterator<number, unknown>) => () => Number(delays.next().value)
        // A slow process may find its blockhash expired when it sends: it reports the refusal.
        await virtual.run(Promise.allSettled(processes.map(({ dieAt, delays }) => run(dieAt, next(delays)))))
        await virtual.run(run())
        expect(received()).toBe(1)
      },
    ),
    { numRuns: full ? 5000 : 40 },
  )
})
