import { describe, expect, test } from "vitest"
import {
  type Clock,
  createJournal,
  memoryStore,
  type PaymentRecord,
  settle,
  signatureOf,
  submit,
  SvcError,
  type Outcome,
  type Step,
} from "../src/index.ts"
import { createFakeChain, type Fate } from "./fake-chain.ts"
import { lies } from "./lies.ts"
import { createPayer, newAddress } from "./payments.ts"
import { ok, scriptedRelay } from "./scripted-relay.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const payer = createPayer()
const id = "invoice-42"
/** As wrong as can be. */
const lastValidBlockHeight = 1n

/** `isLate`: the looks begin when the blockhash of what was sent has expired. */
const setUp = async (lie: keyof typeof lies, fate: Fate, isLate = false) => {
  const virtual = createVirtualClock()
  const chain = createFakeChain(virtual.clock, fate)
  const honest = scriptedRelay(virtual.clock, (asked) => chain.answer(asked)).relay
  const lying = lies[lie]?.(chain) ?? chain.answer
  const { relay } = scriptedRelay(virtual.clock, lying)
  const { clock } = virtual
  const build = ({ blockhash }: { readonly blockhash: string }): Uint8Array =>
    payer.transfer({ recipient: newAddress(), lamports: 5n, blockhash })
  const transaction = build(await virtual.run(honest.latestBlockhash({ commitment: "processed" })))
  const signature = signatureOf(transaction)
  const store = memoryStore()
  const wait = async (): Promise<void> => {
    if (!isLate) return
    await clock.sleep(1000)
    chain.skip(400)
  }
  return {
    virtual,
    chain,
    clock,
    relay,
    honest,
    transaction,
    signature,
    build,
    store,
    send: async () => {
      await honest.send({ transaction })
      await wait()
    },
    /** Stores and sends the payment, and gives up. */
    leave: async () => {
      const leaving = new AbortController()
      await createJournal({ relay: honest, store, clock }).submitOnce(id, transaction, {
        signal: leaving.signal,
        onStep: ({ step }) => (step === "accepted" ? leaving.abort() : undefined),
      })
      await wait()
    },
  }
}

type Setup = Awaited<ReturnType<typeof setUp>>
type Ended = Outcome["state"] | undefined

/** Calls again until there is an end, as a caller does who is told to; undefined if none comes. */
const until = async (clock: Clock, call: () => Promise<Outcome>): Promise<Ended> => {
  for (let calls = 0; calls < 200; calls++) {
    try {
      const { state } = await call()
      if (state !== "undecided") return state
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      // It has been told nothing false: nothing was stored, or nothing was concluded.
      expect(["blockhash-not-found", "other-chain"]).toContain(error.code)
      await clock.sleep(1000)
    }
  }
  return undefined
}

/** Every way to an end of what was sent before. */
const laterPaths: Readonly<Record<string, (set: Setup) => Promise<Ended>>> = {
  "settle with the bytes": async ({ relay, transaction, signature, clock, send }) => {
    await send()
    return until(clock, () => settle(relay, { signature, resend: transaction, lastValidBlockHeight, clock }))
  },
  "settle without them": async ({ relay, signature, clock, send }) => {
    await send()
    return until(clock, () => settle(relay, { signature, lastValidBlockHeight, clock }))
  },
  "submitOnce again": async ({ relay, transaction, store, clock, leave }) => {
    await leave()
    const journal = createJournal({ relay, store, clock })
    return until(clock, () => journal.submitOnce(id, transaction, { lastValidBlockHeight }))
  },
  settleAll: async ({ relay, store, clock, leave }) => {
    await leave()
    const journal = createJournal({ relay, store, clock })
    return until(clock, async () => (await journal.settleAll())[0] ?? Promise.reject(new Error("nothing is open")))
  },
}

/** Every way to an end. */
const paths: typeof laterPaths = {
  ...laterPaths,
  submit: ({ relay, transaction, clock }) =>
    until(clock, () => submit(relay, { transaction, lastValidBlockHeight, clock })),
  "submitOnce with bytes": ({ relay, transaction, store, clock }) =>
    until(clock, () => createJournal({ relay, store, clock }).submitOnce(id, transaction, { lastValidBlockHeight })),
}

/** Every way to the end of what has landed and is too old to be sent again. */
const latePaths: typeof laterPaths = {
  ...laterPaths,
  "submitOnce of bytes that nobody stored": async ({ relay, transaction, store, clock, send }) => {
    await send()
    return (await createJournal({ relay, store, clock }).submitOnce(id, transaction)).state
  },
}

describe.each(Object.keys(lies))("with a provider that %s, and a last height that is too low", (lie) => {
  test.each(Object.entries(paths))(
    "%s returns landed for a transaction that lands after 40 seconds",
    async (_, run) => {
      const set = await setUp(lie, () => 40_000)
      expect(await set.virtual.run(run(set))).toBe("landed")
    },
  )

  test.each(Object.entries(latePaths))("%s returns landed for a transaction that landed long ago", async (_, run) => {
    const set = await setUp(lie, () => 100, true)
    expect(await set.virtual.run(run(set))).toBe("landed")
  })

  test.each(Object.entries(paths))("%s returns expired for a transaction that never lands", async (_, run) => {
    const set = await setUp(lie, () => undefined)
    expect(await set.virtual.run(run(set))).toBe("expired")
  })
})

/** A provider whose named routes come from a node that is behind; the rest of the world has gone on. */
const lagging =
  (behind: number, routes: readonly string[], fault?: string) =>
  (chain: ReturnType<typeof createFakeChain>) =>
  (asked: Parameters<typeof chain.answer>[0]) => {
    const said = chain.answer(asked, routes.includes(asked.route) ? behind : 0)
    if (asked.route !== "simulate" || fault === undefined || typeof said === "string") return said
    return ok({ ...Object(said.body), err: fault })
  }

describe("bytes that aren't stored, with a provider whose nodes may be behind", () => {
  const repeated = async (set: Awaited<ReturnType<typeof setUp>>, relay: typeof set.relay) => {
    const journal = createJournal({ relay, store: set.store, clock: set.clock })
    return journal.submitOnce(id, set.transaction).then(
      ({ state }) => state,
      (error: unknown) => (error instanceof SvcError ? error : Promise.reject(error)),
    )
  }

  test.each([
    ["look-ups and trial runs", 60, undefined],
    ["look-ups and trial runs, far behind", 400, undefined],
    ["look-ups and trial runs, which lack the payer", 60, "AccountNotFound"],
    ["look-ups and trial runs, which lack the funds", 60, "InsufficientFundsForFee"],
  ])("%s: a landed transaction is never called unsent or safe to sign again", async (_, behind, fault) => {
    const set = await setUp("tells the truth", () => 100)
    await set.virtual.run(set.send().then(() => set.clock.sleep(1000)))
    const relay = scriptedRelay(set.clock, lagging(behind, ["signature-status", "simulate"], fault)(set.chain)).relay
    const ended = await set.virtual.run(repeated(set, relay))
    expect(ended).toMatchObject({ code: "lookup-failed", retryable: true })
    expect(Object(ended).message).not.toMatch(/sign|unused/i)
    expect(await set.store.list()).toEqual([])
    expect(await set.virtual.run(repeated(set, set.honest))).toBe("landed")
  })

  test("look-ups and simulations a few seconds behind: the same call returns landed", async () => {
    const set = await setUp("tells the truth", () => 100)
    await set.virtual.run(set.send().then(() => set.clock.sleep(1000)))
    const relay = scriptedRelay(set.clock, lagging(10, ["signature-status", "simulate"])(set.chain)).relay
    expect(await set.virtual.run(repeated(set, relay))).toBe("landed")
  })

  test("only simulations: one wrong response doesn't reject valid bytes, which land at the next call", async () => {
    const set = await setUp("tells the truth", () => 100)
    const relay = scriptedRelay(set.clock, lagging(100, ["simulate"])(set.chain)).relay
    expect(await set.virtual.run(repeated(set, relay))).toMatchObject({ code: "lookup-failed" })
    expect(await set.virtual.run(repeated(set, set.honest))).toBe("landed")
  })
})

describe("a provider whose nodes take turns: the first has the history, the last stands still, the others have lost it", () => {
  const turns = [2, 3, 4, 5, 6].flatMap((nodes) => Array.from({ length: nodes }, (_, first) => [nodes, first] as const))
  test.each(turns)("%i nodes, the proof begins at node %i: what landed is found", async (nodes, first) => {
    const set = await setUp("tells the truth", () => 100, true)
    await set.virtual.run(set.send())
    let turn: number | undefined
    const { relay } = scriptedRelay(set.clock, (asked) => {
      const said = set.chain.answer(asked)
      if (asked.route === "fee") turn ??= first
      const node = turn === undefined ? 1 : turn++ % nodes
      if (node === 0 || !["fee", "signature-status"].includes(asked.route) || typeof said === "string") return said
      const isStill = turn !== undefined && node === nodes - 1
      return ok({ ...Object(said.body), status: null, ...(isStill && { contextSlot: "1" }) })
    })
    const { signature, transaction: resend, clock } = set
    const giving = new AbortController()
    let steps = 0
    const onStep = (): void => void (++steps > 300 && giving.abort())
    const options = { signature, resend, lastValidBlockHeight, clock, onStep, signal: giving.signal }
    expect(await set.virtual.run(settle(relay, options))).toMatchObject({ state: "landed" })
  })
})

const seededClock = (seed: number) => {
  let drawn = seed * 7919 + 1
  const random = (): number => (drawn = (drawn * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648
  const virtual = createVirtualClock()
  return { virtual, clock: { ...virtual.clock, random } }
}

/** Two nodes in turns, of which one has lost the history. */
const twoNodes = (chain: ReturnType<typeof createFakeChain>, clock: Clock, first: number) => {
  let turn = first
  return scriptedRelay(clock, (asked) => {
    const said = chain.answer(asked)
    if (turn++ % 2 !== 0 || asked.route !== "signature-status" || typeof said === "string") return said
    return ok({ ...Object(said.body), status: null })
  }).relay
}

test("of two calls at once with bytes that nobody stored, neither misses the node with the history", async () => {
  const ended: unknown[] = []
  for (let seed = 1; seed < 30; seed++) {
    const { virtual, clock } = seededClock(seed)
    const chain = createFakeChain(clock)
    const honest = scriptedRelay(clock, (asked) => chain.answer(asked)).relay
    const { blockhash } = await virtual.run(honest.latestBlockhash())
    const [landed, unsent] = [1n, 2n].map((lamports) =>
      payer.transfer({ recipient: newAddress(), lamports, blockhash }),
    ) as [Uint8Array, Uint8Array]
    await virtual.run(honest.send({ transaction: landed }))
    await virtual.run(clock.sleep(1000))
    chain.skip(400)
    const relay = twoNodes(chain, clock, seed)
    // Each response takes as long as the other call's.
    const signatureStatus: typeof relay.signatureStatus = async (asked) => {
      await clock.sleep(50 + clock.random())
      return relay.signatureStatus(asked)
    }
    const journal = createJournal({ relay: { ...relay, signatureStatus }, store: memoryStore(), clock })
    const endOf = (name: string, bytes: Uint8Array): Promise<string> =>
      journal.submitOnce(name, bytes).then(
        ({ state }) => state,
        (error: unknown) => (error as SvcError).code,
      )
    const [found] = await virtual.run(Promise.all([endOf("unsent", unsent), endOf("landed", landed)].toReversed()))
    ended.push(found)
  }
  expect(new Set(ended)).toEqual(new Set(["landed"]))
})

test("look-ups of two payments at once don't keep one of them at the node that has lost the history", async () => {
  const ended: Ended[] = []
  for (let seed = 720; seed < 780; seed++) {
    const { virtual, clock } = seededClock(seed)
    let first = ""
    const chain = createFakeChain(clock, (signature) => ((first ||= signature) === signature ? 100 : undefined))
    const store = memoryStore()
    const honest = createJournal({ relay: scriptedRelay(clock, (asked) => chain.answer(asked)).relay, store, clock })
    for (const name of ["lands", "never lands"]) {
      const leaving = new AbortController()
      const options = { signal: leaving.signal, onStep: ({ step }: Step) => step === "accepted" && leaving.abort() }
      const pay = ({ blockhash }: { readonly blockhash: string }) =>
        payer.transfer({ recipient: newAddress(), lamports: 5n, blockhash })
      await virtual.run(honest.submitOnce(name, pay, options))
    }
    for (const record of (await store.list()) as PaymentRecord[])
      await store.put(record.id, { ...record, version: 2, refused: "upstream_rpc_error" }, 1)
    await virtual.run(clock.sleep(1000))
    chain.skip(400)
    const relay = twoNodes(chain, clock, seed)
    const settled = await virtual.run(createJournal({ relay, store, clock }).settleAll())
    ended.push(settled.find(({ signature }) => signature === first)?.state)
  }
  expect(new Set(ended)).toEqual(new Set(["landed"]))
})
