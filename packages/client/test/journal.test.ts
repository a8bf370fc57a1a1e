import { describe, expect, onTestFinished, test, vi } from "vitest"
import {
  type PaymentOutcome,
  createJournal,
  type JournalOptions,
  memoryStore,
  type PaymentRecord,
  signatureOf,
  type Store,
  type SubmitOnceOptions,
  type SvcError,
} from "../src/index.ts"
import { createFakeChain, type Fate } from "./fake-chain.ts"
import { createPayer, newAddress } from "./payments.ts"
import { type Asked, ok, refused, type Said, scriptedRelay } from "./scripted-relay.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const payer = createPayer()
const lamports = 5n

/** A journal on a chain of its own; `says` may speak in the chain's place. */
const setUp = ({
  store = memoryStore(),
  fate,
  says = () => undefined,
  ...rest
}: Partial<JournalOptions> & {
  readonly store?: Store
  readonly fate?: Fate
  readonly says?: (asked: Asked) => Said | undefined
} = {}) => {
  const virtual = createVirtualClock()
  const chain = createFakeChain(virtual.clock, fate)
  const { relay, routes } = scriptedRelay(virtual.clock, (asked) => says(asked) ?? chain.answer(asked))
  const journal = createJournal({ relay, store, clock: virtual.clock, ...rest })
  const recipient = newAddress()
  const built: string[] = []
  const build =
    (to = recipient, amount = lamports) =>
    ({ blockhash }: { readonly blockhash: string }): Uint8Array => {
      const transaction = payer.transfer({ recipient: to, lamports: amount, blockhash })
      built.push(signatureOf(transaction))
      return transaction
    }
  const pay = (
    options: SubmitOnceOptions = {},
    source: Parameters<typeof journal.submitOnce>[1] = build(),
    id = "invoice-42",
  ) => virtual.run(journal.submitOnce(id, source, options))
  return {
    relay,
    journal,
    chain,
    store,
    recipient,
    build,
    built,
    routes,
    run: virtual.run,
    clock: virtual.clock,
    pay,
    /** Begins a payment and gives up at its first step, as a process that dies; gives its signature. */
    leave: async (id = "invoice-42", to = recipient): Promise<string> => {
      const leaving = new AbortController()
      await pay({ signal: leaving.signal, onStep: () => leaving.abort() }, build(to), id)
      return built.at(-1) ?? ""
    },
    sends: () => routes().filter((route) => route === "send").length,
  }
}

const lost: Fate = () => undefined

/** Stops a call while the stored payment may still land, or has landed: it doesn't prove that nothing was submitted. */
const stopped = (code: string) => {
  const isStopped = (error: SvcError): boolean =>
    error.code === code &&
    /^This call sent nothing( that can land)?: /.test(error.message) &&
    error.submissionState === undefined
  return expect.toSatisfy(isStopped, `${code} that proves nothing`)
}

test("a payment is simulated, stored, sent once and finalized; a second run sends nothing and returns the same", async () => {
  const { pay, journal, recipient, chain, routes, sends, built } = setUp()
  const outcome = await pay()
  expect(outcome).toEqual({
    state: "landed",
    signature: built[0],
    slot: expect.any(BigInt),
    commitment: "finalized",
    err: null,
  })
  expect(routes().indexOf("simulate")).toBeLessThan(routes().indexOf("send"))
  expect([sends(), chain.received(recipient)]).toEqual([1, 1])
  expect(await journal.get("invoice-42")).toMatchObject({
    id: "invoice-42",
    version: 2,
    state: "landed",
    attempt: 1,
    signature: built[0],
    relayUrl: "http://relay.test",
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    storedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    err: null,
  })
  expect(await pay()).toEqual({ ...outcome, replayed: true })
  expect([sends(), chain.received(recipient)]).toEqual([1, 1])
})

test("with a purpose a known id is compared by it, without calling the builder; otherwise by the fingerprint", async () => {
  const inner = memoryStore()
  // Many clients of databases give null for what they don't have.
  const store: Store = { ...inner, get: async (id) => (await inner.get(id)) ?? (null as never) }
  const { pay, built, build, sends } = setUp({ store })
  const purpose = "5 lamports to the shop"
  await pay({ purpose })
  await pay({ purpose })
  expect(built).toHaveLength(1)
  await expect(pay({ purpose: "6 lamports to the shop" })).rejects.toMatchObject({
    code: "id-reused",
    message:
      'This call sent nothing: "invoice-42" is a payment with another purpose (landed): use another id only to pay again',
    submissionState: "not_submitted",
    details: { stored: { purpose, payer: payer.address }, given: { purpose: "6 lamports to the shop" } },
  })
  await pay()
  expect(built).toHaveLength(2)
  const other = newAddress()
  await expect(pay({}, build(other))).rejects.toMatchObject({
    code: "id-reused",
    message: 'This call sent nothing: "invoice-42" is another payment (landed): use another id only to pay again',
    details: {
      stored: { payer: payer.address, accounts: [payer.address, expect.any(String)], programs: [expect.any(String)] },
      given: { accounts: [payer.address, other] },
    },
  })
  await expect(pay({}, build(undefined, 6n))).rejects.toMatchObject({ code: "id-reused" })
  expect(sends()).toBe(1)
})

test("the builder gets the stored blockhash for comparison, so it can't sign a longer-lived transaction", async () => {
  const given: string[] = []
  const { pay, build } = setUp()
  const source = (lifetime: { readonly blockhash: string }) => {
    given.push(lifetime.blockhash)
    return build()(lifetime)
  }
  await pay({}, source)
  await pay({}, source)
  expect(new Set(given).size).toBe(1)
})

test("after a proven expiry the next attempt has a new signature, up to maxAttempts", async () => {
  let tries = 0
  const { pay, journal, chain, recipient, built } = setUp({ fate: () => (new Set(built).size < 3 ? undefined : 100) })
  expect(await pay({ onStep: ({ step }) => (tries += step === "sending" ? 1 : 0) })).toMatchObject({
    state: "landed",
    signature: built[2],
  })
  expect([built.length, chain.received(recipient)]).toEqual([3, 1])
  expect(tries).toBeGreaterThan(30)
  expect(await journal.get("invoice-42")).toMatchObject({ attempt: 3, version: 6, state: "landed" })

  const never = setUp({ fate: lost })
  await expect(never.pay({ maxAttempts: 2 })).rejects.toMatchObject({ code: "attempts-exhausted" })
  expect(never.built).toHaveLength(2)
  expect(await never.journal.get("invoice-42")).toMatchObject({ state: "expired", attempt: 2 })
})

const custom = { InstructionError: [0, { Custom: 1 }] } as const
test.each<[log: string, cause: string, err?: string]>([
  ["nothing", "the fee payer has no SOL (AccountNotFound)", "AccountNotFound"],
  ["nothing", "the fee payer has too little SOL for the fee (InsufficientFundsForFee)", "InsufficientFundsForFee"],
  ["nothing", "InvalidAccountForFee", "InvalidAccountForFee"],
  ["Transfer: insufficient lamports 99995000, need 9000000000", "it needs 9,000,000,000 lamports, has 99,995,000"],
  [
    "Program log: AnchorError thrown in lib.rs:7. Error Code: Late. Error Number: 6000. Error Message: Too late.",
    "Too late",
  ],
  ["Program log: Error: insufficient funds", "insufficient funds"],
  ["Program 1111 failed: custom program error: 0x1", "custom program error: 0x1"],
  ["Program log: nothing", '{"InstructionError":[0,{"Custom":1}]}'],
])("a failed simulation whose logs say %s is reported as: %s", async (...[log, cause, err = custom]) => {
  const logs = [log]
  const failing: ReturnType<typeof setUp> = setUp({
    says: (asked) => {
      const said = failing.chain.answer(asked)
      if (asked.route !== "simulate" || typeof said === "string") return undefined
      return ok({
        ...Object(said.body),
        err,
        logs: Array.from({ length: 20 }, (_, index) => `log ${index}`).concat(logs),
      })
    },
  })
  await expect(failing.pay()).rejects.toMatchObject({
    code: "simulation-failed",
    message: `The transaction would fail: ${cause}. Nothing was stored or sent, the id is unused, and other bytes may use it`,
    submissionState: "not_submitted",
    details: {
      err,
      logs: [...Array.from({ length: 9 }, (_, index) => `log ${index + 11}`), log],
    },
  })
  expect(await failing.journal.list()).toEqual([])
  expect(await failing.pay({ skipPreflight: true })).toMatchObject({ state: "landed" })
})

test.each(["BlockhashNotFound", "AccountNotFound", { InstructionError: [0, { Custom: 1 }] }])(
  "a node that hasn't reached the blockhash's slot rejects nothing by %j: another one is asked, or the call may be repeated",
  async (err) => {
    let lags = Infinity
    const set: ReturnType<typeof setUp> = setUp({
      says: (asked) => {
        const said = set.chain.answer(asked)
        if (asked.route !== "simulate" || typeof said === "string" || --lags < 0) return undefined
        return ok({ ...Object(said.body), contextSlot: "1", err })
      },
    })
    await expect(set.pay()).rejects.toMatchObject({ code: "lookup-failed", retryable: true })
    expect(await set.journal.list()).toEqual([])
    lags = 2
    expect(await set.pay()).toMatchObject({ state: "landed" })
    expect(set.chain.received(set.recipient)).toBe(1)
  },
)

test.each(["built", "signed elsewhere"])(
  "no node that lags behind the blockhash rejects the send of a payment, %s",
  async (how) => {
    let sent = 0
    const set = setUp({
      says: ({ route, body }) =>
        // Such a node says retryable -32016 if it is told which slot it must have reached, else that there is no such blockhash.
        route === "send" && sent++ < 2 ? refused("upstream_rpc_error", Number(body["minContextSlot"]) > 1) : undefined,
    })
    const source = how === "built" ? set.build() : set.build()(await set.relay.latestBlockhash())
    expect(await set.pay({}, source)).toMatchObject({ state: "landed", err: null })
    expect(set.sends()).toBe(3)
  },
)

test("a built transaction that was sent already is looked up, and never called one that others may replace", async () => {
  const set = setUp()
  const paid = await set.pay({}, async (lifetime) => {
    const transaction = set.build()(lifetime)
    await set.relay.send({ transaction })
    await set.clock.sleep(5000)
    return transaction
  })
  expect(paid).toMatchObject({ state: "landed", replayed: true })
  const twice = set.pay(
    {},
    async (lifetime) => {
      const transaction = set.build()(lifetime)
      await set.journal.submitOnce("a", transaction)
      return transaction
    },
    "b",
  )
  await expect(twice).rejects.toMatchObject({ code: "duplicate-transaction" })
  expect(set.chain.received(set.recipient)).toBe(2)
})

describe("a transaction that the chain has processed, of whose signature no look-up finds anything", () => {
  const found = { status: null, contextSlot: "1000000" }
  const run = { contextSlot: "1000000", err: "AlreadyProcessed", unitsConsumed: null, loadedAccountsDataSize: null }
  const processed = (behind = 0) => {
    const said: Partial<Record<Asked["route"], Said>> = {
      "signature-status": ok({ ...found, contextSlot: String(1_000_000 - behind) }),
      simulate: ok({ ...run, logs: [] }),
    }
    return setUp({ says: ({ route }) => said[route] })
  }

  test("was signed a second time: it is rejected at once, and nothing advises to sign it again", async () => {
    const set = processed()
    const bytes = set.build()(await set.run(set.relay.latestBlockhash()))
    for (const source of [bytes, set.build()]) {
      await expect(set.pay({}, source)).rejects.toMatchObject({
        code: "duplicate-transaction",
        message: expect.stringMatching(
          /^Nothing was sent: the chain has it under another signature\. .*don't sign another for it/,
        ),
        submissionState: "not_submitted",
      })
    }
    expect(await set.journal.list()).toEqual([])
    expect(set.sends()).toBe(0)
  })

  test("isn't rejected as one by a look-up that lags behind the node that has processed it", async () => {
    const set = processed(1)
    await expect(set.pay()).rejects.toMatchObject({ code: "lookup-failed", retryable: true })
    expect(set.sends()).toBe(0)
  })
})

test("invalid input is rejected before anything is stored: another blockhash, no transaction, an invalid id", async () => {
  const { pay, journal, build, sends } = setUp()
  await expect(pay({}, () => build()({ blockhash: newAddress() }))).rejects.toMatchObject({ code: "wrong-blockhash" })
  await expect(pay({}, () => "AQ==")).rejects.toMatchObject({ code: "invalid_transaction" })
  for (const nothing of [undefined, null, {}, [1, 2]])
    await expect(pay({}, () => nothing as string)).rejects.toMatchObject({ code: "invalid_base64" })
  await expect(
    pay({}, () => {
      throw new Error("the wallet says no")
    }),
  ).rejects.toThrow("the wallet says no")
  for (const id of [
    "",
    "a\nb",
    " a",
    "a ",
    "\u3000",
    "\ud800",
    "cafe\u0301",
    "a\u00a0b",
    "x".repeat(201),
    "é".repeat(101),
    7 as unknown as string,
  ]) {
    await expect(pay({}, build(), id)).rejects.toMatchObject({ code: "invalid-id" })
  }
  expect([await journal.list(), sends()]).toEqual([[], 0])
})

test("a rejection is reported at once, and other bytes wait until the stored ones have expired", async () => {
  let refuses = true
  const { pay, journal, clock, build, recipient, chain } = setUp({
    says: ({ route }) => (route === "send" && refuses ? refused("upstream_rpc_error", false) : undefined),
  })
  await expect(pay()).rejects.toMatchObject({ code: "upstream_rpc_error", submissionState: "not_submitted" })
  expect(await journal.get("invoice-42")).toMatchObject({ state: "open", refused: "upstream_rpc_error", attempt: 1 })
  await expect(journal.forget("invoice-42")).rejects.toSatisfy(
    (error: SvcError) => error.code === "payment-open" && error.submissionState === undefined,
  )
  refuses = false
  const from = clock.now()
  const corrected = newAddress()
  expect(await pay({}, build(corrected))).toMatchObject({ state: "landed" })
  expect(clock.now() - from).toBeGreaterThan(150 * 400)
  expect([chain.received(recipient), chain.received(corrected)]).toEqual([0, 1])
  expect(await journal.get("invoice-42")).toMatchObject({ attempt: 2 })
})

test("a rejected transaction that lands anyway, through another process's copy, keeps a corrected one out", async () => {
  let sent = ""
  const { pay, chain, build, recipient } = setUp({
    says: ({ route, body }) => {
      if (route !== "send" || sent !== "") return undefined
      sent = String(body["transaction"])
      return refused("upstream_rpc_error", false)
    },
  })
  await expect(pay()).rejects.toMatchObject({ code: "upstream_rpc_error" })
  chain.answer({ route: "send", body: { transaction: sent }, bearer: "" })
  const corrected = newAddress()
  await expect(pay({}, build(corrected))).rejects.toMatchObject({ code: "id-reused" })
  expect([chain.received(recipient), chain.received(corrected)]).toEqual([1, 0])
})

test("a caller who aborts gets undecided, and a later call finishes it; before anything is stored it is aborted", async () => {
  const giving = new AbortController()
  const { pay, journal, chain, recipient } = setUp({
    says: ({ route }) => {
      if (route !== "send" || giving.signal.aborted) return undefined
      giving.abort()
      return "silence"
    },
  })
  await expect(pay({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "aborted",
    message: "Nothing was stored or sent: Aborted",
  })
  expect(await journal.list()).toEqual([])
  const outcome = await pay({ signal: giving.signal })
  expect(outcome).toMatchObject({ state: "undecided", lastError: { code: "aborted" } })
  expect(await pay({ signal: AbortSignal.abort() })).toMatchObject({ state: "undecided" })
  expect(await pay()).toMatchObject({ state: "landed" })
  expect(chain.received(recipient)).toBe(1)
})

test("a caller who aborts while the relay is away or busy gets its last error as the reason", async () => {
  let giving: AbortController | undefined
  let answer: Said = "lost"
  let calls = 0
  const { pay } = setUp({
    says: ({ route }) => {
      if (giving === undefined) return route === "send" ? refused("rate_limited", true, {}, 429) : undefined
      if (++calls % 3 === 0) giving.abort()
      return answer
    },
  })
  const abortedAt = (): Promise<PaymentOutcome> => pay({ signal: (giving = new AbortController()).signal })
  await expect(abortedAt()).rejects.toMatchObject({
    code: "aborted",
    message: "Nothing was stored or sent: http://relay.test can't be reached",
  })
  giving = undefined
  const stopping = new AbortController()
  expect(await pay({ signal: stopping.signal, onStep: () => stopping.abort() })).toMatchObject({ state: "undecided" })
  expect(await abortedAt()).toMatchObject({ state: "undecided", lastError: { code: "network-error" } })
  answer = refused("rate_limited", true, {}, 429)
  expect(await abortedAt()).toMatchObject({ state: "undecided", lastError: { code: "rate_limited" } })
})

test("with confirmed the call returns earlier, and the record stays open until the payment is finalized", async () => {
  const { pay, journal } = setUp()
  expect(await pay({ commitment: "confirmed" })).toMatchObject({ state: "landed", commitment: "confirmed" })
  expect(await journal.list({ open: true })).toHaveLength(1)
  expect(await pay()).toMatchObject({ state: "landed", commitment: "finalized" })
  expect(await journal.list({ open: true })).toEqual([])
})

test("settleAll finishes payments after a restart, reports expired ones, and signs nothing", async () => {
  const giving = { signal: AbortSignal.abort() }
  const dropped = new Set<string>()
  const { leave, journal, run, built, clock } = setUp({
    fate: (signature) => (dropped.has(signature) ? undefined : 100),
  })
  const first = await leave("a", newAddress())
  const second = await leave("b", newAddress())
  dropped.add(second)
  expect(await run(journal.settleAll(giving))).toMatchObject([{ state: "undecided" }, { state: "undecided" }])
  const settled = await run(journal.settleAll())
  expect(settled.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual([
    { id: "a", state: "landed", signature: first, slot: expect.any(BigInt), commitment: "finalized", err: null },
    { id: "b", state: "expired", signature: second },
  ])
  expect(clock.now()).toBeGreaterThan(150 * 400)
  expect(built).toHaveLength(2)
  await journal.forget("b")
  expect(await journal.get("b")).toBeUndefined()
})

describe("forget", () => {
  test("a payment that may still land is kept, unless forced; a forgotten id is a new payment with new versions", async () => {
    const { pay, leave, journal, store, chain, recipient, build } = setUp()
    await leave()
    await expect(journal.forget("invoice-42")).rejects.toMatchObject({ code: "payment-open" })
    await pay()
    const old = await journal.get("invoice-42")
    await journal.forget("invoice-42")
    await journal.forget("invoice-42")
    expect([await journal.get("invoice-42"), await journal.list()]).toEqual([undefined, []])
    for (const version of [0, 1, 2]) expect(await store.put("invoice-42", old as PaymentRecord, version)).toBe(false)
    await pay()
    expect(await journal.get("invoice-42")).toMatchObject({ version: 5, attempt: 1, state: "landed" })
    expect(chain.received(recipient)).toBe(2)
    await pay({ commitment: "confirmed" }, build(), "another")
    await journal.forget("another", { force: true })
    expect(await journal.list()).toHaveLength(1)
  })

  test("a run that started before the payment was forgotten doesn't pay again", async () => {
    const inner = memoryStore()
    const forgetting: Store = {
      ...inner,
      put: async (id, record, version) => {
        const stored = await inner.put(id, record, version)
        if (record.state === "expired") await expiring.journal.forget(id)
        return stored
      },
    }
    const expiring = setUp({ store: forgetting, fate: lost })
    await expect(expiring.pay()).rejects.toMatchObject({ code: "payment-forgotten" })
    expect(expiring.built).toHaveLength(1)

    const store = memoryStore()
    const other = setUp({ store })
    const { pay, build, chain, recipient } = setUp({ store })
    const late = async (lifetime: { readonly blockhash: string }) => {
      await other.pay()
      await other.journal.forget("invoice-42")
      return build()(lifetime)
    }
    await expect(pay({}, late)).rejects.toMatchObject({ code: "payment-forgotten" })
    expect(chain.received(recipient)).toBe(0)
  })
})

describe("one chain", () => {
  const left = async (options: Partial<JournalOptions> = {}) => {
    const set = setUp(options)
    await set.leave()
    return set
  }

  /** A journal at another relay of the same chain, with the same store. */
  const move = ({ store, clock, chain }: ReturnType<typeof setUp>, options: Partial<JournalOptions> = {}) => {
    const { relay, asked } = scriptedRelay(clock, chain.answer)
    return { asked, moved: createJournal({ relay: { ...relay, url: "http://other.test" }, store, clock, ...options }) }
  }

  test("another relay URL stops the payment before anything is sent, unless it is allowed", async () => {
    const set = await left()
    const { journal, build, run } = set
    const { asked, moved } = move(set)
    await expect(run(moved.submitOnce("invoice-42", build()))).rejects.toEqual(stopped("other-relay"))
    expect(asked).toEqual([])
    expect(await run(moved.settleAll())).toMatchObject([{ state: "undecided", lastError: stopped("other-relay") }])
    expect(await run(moved.submitOnce("invoice-42", build(), { allowRelay: true }))).toMatchObject({ state: "landed" })
    expect(await journal.list({ open: true })).toEqual([])
  })

  test("if both relays report their chain, an allowed change continues only on the same chain", async () => {
    for (const [before, now, ends] of [
      ["A", "B", "undecided"],
      ["A", "A", "landed"],
      [undefined, "B", "landed"],
      ["A", undefined, "landed"],
    ] as const) {
      const set = await left({ genesisHash: async () => before })
      expect(await set.journal.get("invoice-42")).toMatchObject({ genesisHash: before })
      const { asked, moved } = move(set, { allowRelay: true, genesisHash: async () => now })
      const [settled] = await set.run(moved.settleAll())
      expect([before, now, settled?.state]).toEqual([before, now, ends])
      if (ends === "landed") continue
      expect(settled).toMatchObject({ lastError: stopped("other-chain") })
      expect(asked).toEqual([])
    }
  })

  test("another chain behind the same URL stops the payment: nothing is sent or concluded", async () => {
    let hash: string | undefined = "A"
    const set = await left({ genesisHash: async () => hash })
    const { journal, build, run, routes } = set
    const before = routes().length
    hash = "B"
    expect(await run(journal.settleAll())).toMatchObject([{ state: "undecided", lastError: stopped("other-chain") }])
    await expect(run(journal.submitOnce("invoice-42", build()))).rejects.toEqual(stopped("other-chain"))
    expect(routes()).toHaveLength(before)
    expect(await journal.list({ open: true })).toHaveLength(1)
    hash = undefined
    expect(await run(journal.settleAll())).toMatchObject([{ state: "landed" }])
  })

  test("a chain that is behind the stored height is another one: nothing is sent or concluded", async () => {
    const { journal, store } = await left()
    const other = setUp({
      store,
      says: ({ route }) => {
        if (route !== "latest-blockhash") return undefined
        return ok({ blockhash: "x", contextSlot: "200", lastValidBlockHeight: "250" })
      },
    })
    expect(await other.run(other.journal.settleAll())).toMatchObject([{ lastError: stopped("other-chain") }])
    expect(other.routes().filter((route) => route !== "latest-blockhash")).toEqual([])
    expect(await journal.list({ open: true })).toHaveLength(1)
  })

  test("a provider that is a few blocks behind another one is waited for", async () => {
    let lags = 2
    const { store } = await left()
    const { journal, run } = setUp({
      store,
      says: ({ route }) => {
        if (route !== "latest-blockhash" || lags-- <= 0) return undefined
        return ok({ blockhash: "x", contextSlot: "1060", lastValidBlockHeight: "1110" })
      },
    })
    expect(await run(journal.settleAll())).toMatchObject([{ state: "landed" }])
  })

  test("an expiry more than 150,000 blocks ago proves nothing: undecided, journal-stale, and a person decides", async () => {
    for (const blocks of [149_900, 150_200]) {
      const { pay, leave, chain, journal, run } = setUp({ fate: lost })
      await leave()
      chain.skip(blocks)
      const [settled] = await run(journal.settleAll())
      if (blocks < 150_000) expect(settled).toMatchObject({ state: "expired" })
      else {
        expect(settled).toMatchObject({ state: "undecided", lastError: { code: "journal-stale" } })
        expect(await pay()).toMatchObject({ state: "undecided", lastError: { code: "journal-stale" } })
        await journal.forget("invoice-42", { force: true })
      }
    }
    const { pay, chain, journal } = setUp()
    await pay({ commitment: "confirmed" })
    chain.skip(1_000_000)
    expect(await pay()).toMatchObject({ state: "landed", commitment: "finalized" })
    expect(await journal.list({ open: true })).toEqual([])
  })

  test("if the computer slept between the proof's two responses, the second one isn't accepted as proof", async () => {
    const { leave, chain, journal, run } = setUp({
      fate: lost,
      says: ({ route }) => {
        if (route === "signature-status") chain.skip(200_000)
        return undefined
      },
    })
    await leave()
    chain.skip(300)
    expect(await run(journal.settleAll())).toMatchObject([{ state: "undecided", lastError: { code: "journal-stale" } }])
  })
})

describe("bytes that were signed elsewhere", () => {
  const signed = async (set: ReturnType<typeof setUp>): Promise<Uint8Array> =>
    set.build()(await set.run(set.relay.latestBlockhash()))

  test("are sent unchanged, and expire 150 blocks from now, or at the given height if that is later and possible", async () => {
    for (const [given, end] of [
      [undefined, "1150"],
      [1100n, "1150"],
      [1160n, "1160"],
      // Such as a slot.
      [200_000n, "1150"],
    ] as const) {
      const set = setUp()
      const { journal, chain, recipient, pay } = set
      const options = given === undefined ? {} : { lastValidBlockHeight: given }
      expect(await pay(options, await signed(set))).toMatchObject({ state: "landed", signature: set.built[0] })
      expect(await journal.get("invoice-42")).toMatchObject({ lastValidBlockHeight: end })
      expect(chain.received(recipient)).toBe(1)
    }
  })

  test("aren't sent again if they landed before", async () => {
    const set = setUp()
    const bytes = await signed(set)
    await set.run(createJournal({ relay: set.relay, store: memoryStore(), clock: set.clock }).submitOnce("a", bytes))
    expect(await set.pay({}, bytes, "b")).toMatchObject({ state: "landed", replayed: true })
    expect(set.sends()).toBe(1)
  })

  test("aren't stored or sent if the provider doesn't know their blockhash", async () => {
    const set = setUp()
    const old = set.build()({ blockhash: newAddress() })
    await expect(set.pay({}, old)).rejects.toMatchObject({
      code: "blockhash-not-found",
      message: "Nothing was stored or sent. Sign again with a new blockhash",
    })
    expect([await set.journal.list(), set.sends(), set.routes()[0]]).toEqual([[], 0, "signature-status"])
    // It doesn't wait for the expiry.
    expect(set.clock.now()).toBeLessThan(3000)
  })

  test("are compared with the record, whatever the purpose", async () => {
    const set = setUp()
    const purpose = "rent"
    const first = await signed(set)
    await set.pay({ purpose }, first)
    const other = set.build(newAddress(), 2500n)(await set.run(set.relay.latestBlockhash()))
    await expect(set.pay({ purpose }, other)).rejects.toMatchObject({ code: "id-reused" })
    await expect(set.pay({ purpose: "food" }, first)).rejects.toMatchObject({ code: "id-reused" })
    expect(await set.pay({ purpose }, await signed(set))).toMatchObject({ signature: set.built[0], replayed: true })
    expect(set.sends()).toBe(1)
  })

  test("end in expired, and newly signed bytes are the next attempt", async () => {
    const set = setUp({ fate: (signature) => (signature === set.built[0] ? undefined : 100) })
    const first = await signed(set)
    const expired = { state: "expired", signature: set.built[0] }
    expect(await set.pay({}, first)).toEqual(expired)
    expect(await set.pay({}, first)).toEqual({ ...expired, replayed: true })
    const second = await signed(set)
    expect(await set.pay({}, second)).toMatchObject({ state: "landed", signature: set.built[1] })
    expect(await set.journal.get("invoice-42")).toMatchObject({ attempt: 2 })
    expect(await set.pay({}, first)).toMatchObject({ state: "landed", signature: set.built[1] })
  })
})

test("a damaged record is never treated as missing", async () => {
  const inner = memoryStore()
  const { pay, journal, sends } = setUp({
    store: { ...inner, get: (id) => inner.get(id) && { ...(inner.get(id) as PaymentRecord), signature: "x" } },
  })
  await pay({ commitment: "confirmed" })
  const before = sends()
  await expect(pay()).rejects.toThrow('the record of "invoice-42" is damaged')
  await expect(journal.get("invoice-42")).rejects.toEqual(stopped("journal-damaged"))
  await expect(journal.forget("invoice-42")).rejects.toEqual(stopped("journal-damaged"))
  expect(sends()).toBe(before)
  await journal.forget("invoice-42", { force: true })
  expect(await inner.get("invoice-42")).toMatchObject({ state: "forgotten", version: 2 })
})

test("a store that fails or rejects stops the payment with nothing sent", async () => {
  const inner = memoryStore()
  const broken: readonly Partial<Store>[] = [
    { get: () => Promise.reject(new Error("disk full")) },
    { put: () => Promise.reject(new Error("disk full")) },
    { put: () => false },
  ]
  for (const part of broken) {
    const { pay, sends } = setUp({ store: { ...inner, ...part } })
    await expect(pay()).rejects.toEqual(stopped("journal-unavailable"))
    expect(sends()).toBe(0)
  }
})

test("a store that fails after a send doesn't make the call say that it sent nothing", async () => {
  const inner = memoryStore()
  const put: Store["put"] = (id, record, version) => {
    if ("state" in record && record.state === "expired") throw new Error("disk full")
    return inner.put(id, record, version)
  }
  const { pay, sends } = setUp({ store: { ...inner, put }, fate: lost })
  await expect(pay()).rejects.toMatchObject({
    code: "journal-unavailable",
    message: "This call sent nothing that can land: the store failed: disk full",
  })
  expect(sends()).toBeGreaterThan(0)
})

test("a page without crypto.subtle, such as one over http, gets an error that says so, and nothing is stored or sent", async () => {
  vi.stubGlobal("crypto", {})
  onTestFinished(() => void vi.unstubAllGlobals())
  const { pay, sends, journal } = setUp()
  const error = {
    code: "journal-unavailable",
    message: expect.stringMatching(/crypto\.subtle/),
    submissionState: "not_submitted",
  }
  await expect(pay()).rejects.toMatchObject(error)
  expect([sends(), await journal.list()]).toEqual([0, []])
})

test("bytes of another id are rejected: in progress, landed, or stored at the same time by another process", async () => {
  const set = setUp()
  const { blockhash } = await set.run(set.relay.latestBlockhash({ commitment: "processed" }))
  const [bytes, others] = [set.build()({ blockhash }), set.build(newAddress())({ blockhash })]
  const journals = ["a", "b", "c"].map((id) => ({
    id,
    journal: createJournal({ relay: set.relay, store: set.store, clock: set.clock }),
  }))
  const said = await set.run(
    Promise.all(
      journals.map(({ id, journal }) => journal.submitOnce(id, bytes).catch((error: unknown) => error as SvcError)),
    ),
  )
  expect(said.map((one) => ("code" in one ? one.code : one.state)).toSorted()).toEqual([
    "duplicate-transaction",
    "duplicate-transaction",
    "landed",
  ])
  const landed = (await set.journal.list()).map(({ id }) => id)
  expect(landed).toHaveLength(1)
  await expect(set.pay({}, bytes, "d")).rejects.toMatchObject({
    code: "duplicate-transaction",
    message: `Nothing was sent for "d": "${landed[0]}" has this transaction. It lands once, so don't sign another for it; a second payment needs a memo`,
  })
  // The id is unused.
  expect(await set.pay({}, set.build(), "d")).toMatchObject({ state: "landed" })

  // Both look into the store before either has stored anything.
  const looked = Promise.withResolvers<void>()
  let lists = 0
  const list: Store["list"] = async () => {
    const found = await set.store.list()
    if (++lists === 2) looked.resolve()
    await looked.promise
    return found
  }
  const slow = createJournal({ relay: set.relay, store: { ...set.store, list }, clock: set.clock })
  const again = set.build()(await set.run(set.relay.latestBlockhash()))
  const ends = await set.run(Promise.allSettled(["g", "h"].map((id) => slow.submitOnce(id, () => again))))
  expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])

  const put: Store["put"] = async (id, record, version) => {
    // Another process stores the same bytes first.
    if (id === "e") await set.store.put("f", { ...(record as PaymentRecord), id: "f" }, 0)
    return set.store.put(id, record, version)
  }
  const both = createJournal({ relay: set.relay, store: { ...set.store, put }, clock: set.clock })
  await expect(set.run(both.submitOnce("e", others))).rejects.toMatchObject({ code: "duplicate-transaction" })
  expect((await set.journal.list()).map(({ id }) => id)).not.toContain("e")
})

test("bytes of another id stay its own if the process dies before it has looked for them: never reported as paid twice", async () => {
  const inner = memoryStore()
  let dies = false
  const put: Store["put"] = async (...given) => {
    const stored = await inner.put(...given)
    if (dies) throw new Error("killed")
    return stored
  }
  const set = setUp({ store: { ...inner, put } })
  const bytes = set.build()(await set.run(set.relay.latestBlockhash()))
  expect(await set.pay({}, bytes, "a")).toMatchObject({ state: "landed" })
  dies = true
  await expect(set.pay({}, bytes, "b")).rejects.toThrow(/./)
  dies = false
  await expect(set.pay({}, bytes, "b")).rejects.toMatchObject({ code: "duplicate-transaction" })
  expect((await set.journal.list()).map(({ id }) => id)).toEqual(["a"])
})

test("a rejection isn't reported once another process has finished the payment", async () => {
  const inner = memoryStore()
  let isDone = false
  const put: Store["put"] = async (id, record, version) => {
    // The other process is faster.
    if (version === 1 && !isDone) {
      isDone = true
      const { refused: _refused, ...open } = record as PaymentRecord
      await inner.put(id, { ...open, state: "landed", slot: "7", err: null }, version)
    }
    return inner.put(id, record, version)
  }
  const set = setUp({
    store: { ...inner, put },
    says: ({ route }) => (route === "send" ? refused("upstream_unavailable", false) : undefined),
  })
  expect(await set.pay()).toMatchObject({ state: "undecided", lastError: { code: "upstream_unavailable" } })
  expect(await set.pay()).toMatchObject({ state: "landed", slot: 7n, replayed: true })
})
