// The state machine of docs/decisions/payments.md as a model: all interleavings of two processes, crashes and the chain.
import { expect, test } from "vitest"

type Record = {
  readonly version: number
  readonly state: "open" | "landed" | "expired" | "forgotten"
  readonly tx: number
}
/** `payment`: the id's first payment, or the one after it was forgotten. */
type Tx = { readonly sent: boolean; readonly ended: boolean; readonly landed: boolean; readonly payment: number }
/** Where a process is, what it has read, the transaction that it signed or works on, and which payment it makes. */
type Process = {
  readonly at: "idle" | "again" | "read" | "signed" | "sending" | "landed" | "expired" | "done"
  readonly seen: Record | undefined
  readonly tx: number
  readonly payment: number
}
type World = {
  readonly record: Record | undefined
  readonly txs: readonly Tx[]
  readonly processes: readonly Process[]
  readonly forgets: number
}

type Journal = {
  /** Whether a signed transaction is sent before it is stored. */
  readonly sendsFirst?: boolean
  /** Whether a record is forgotten once its transaction was sent. */
  readonly forgetsEarly?: boolean
  /** Whether a transaction that isn't found counts as expired before its end is proven. */
  readonly guessesExpiry?: boolean
  /** Whether a version is taken again after it was forgotten. */
  readonly reusesVersions?: boolean
}

const mostTxs = 3
const idle: Process = { at: "idle", seen: undefined, tx: -1, payment: -1 }
const replace = <Item>(list: readonly Item[], index: number, item: Item): Item[] => list.with(index, item)

/** All worlds that one step leads to. */
const stepsFrom = (world: World, journal: Journal): World[] => {
  const { record, txs, processes, forgets } = world
  const next: World[] = []
  const txOf = (index: number): Tx => txs[index] ?? { sent: false, ended: false, landed: false, payment: -1 }
  const change = (index: number, tx: Partial<Tx>): Tx[] => replace(txs, index, { ...txOf(index), ...tx })

  // The chain: a copy lands while its blockhash is good, or the blockhash ends.
  txs.forEach(({ sent, ended, landed }, index) => {
    if (sent && !ended && !landed) next.push({ ...world, txs: change(index, { landed: true }) })
    if (!ended) next.push({ ...world, txs: change(index, { ended: true }) })
  })
  // Somebody forgets what is final, once.
  if (forgets === 0 && (record?.state === "landed" || record?.state === "expired")) {
    const gone: Record = { version: record.version + 1, state: "forgotten", tx: -1 }
    next.push({ ...world, record: journal.reusesVersions === true ? undefined : gone, forgets: 1 })
  }

  processes.forEach((process, index) => {
    const { at, seen, tx } = process
    const go = (to: Partial<Process>, more: Partial<World> = {}): void =>
      void next.push({ ...world, ...more, processes: replace(processes, index, { ...process, ...to }) })
    const put = (fresh: Omit<Record, "version">, won: Process["at"]): void => {
      const expected = seen?.version ?? 0
      if ((record?.version ?? 0) !== expected) return go({ at: "again" })
      const stored: Record = { ...fresh, version: expected + 1 }
      go({ at: won, seen: stored }, { record: stored })
    }
    // It dies, and runs again.
    if (at !== "idle") go(idle)
    switch (at) {
      case "idle":
        return go({ at: "read", seen: record, payment: forgets })
      case "again":
        if (record?.state === "forgotten") return go({ at: "done" })
        return go({ at: "read", seen: record, payment: record === undefined ? process.payment : forgets })
      case "read":
        if (seen?.state === "landed") return go({ at: "done" })
        if (seen?.state === "open") return go({ at: "sending", tx: seen.tx })
        if (txs.length === mostTxs) return
        return go(
          { at: "signed", tx: txs.length },
          {
            txs: [...txs, { sent: false, ended: false, landed: false, payment: process.payment }],
          },
        )
      case "signed":
        if (journal.sendsFirst === true && !txOf(tx).sent) return go({}, { txs: change(tx, { sent: true }) })
        return put({ state: "open", tx }, "sending")
      case "sending":
        if (!txOf(tx).sent) go({}, { txs: change(tx, { sent: true }) })
        else if (journal.forgetsEarly === true && record?.tx === tx) go({}, { record: undefined })
        if (txOf(tx).landed) go({ at: "landed" })
        else if (txOf(tx).ended || journal.guessesExpiry === true) go({ at: "expired" })
        return
      case "landed":
        return put({ state: "landed", tx }, "done")
      case "expired":
        return put({ state: "expired", tx }, "again")
      case "done":
        return
    }
  })
  return next
}

/** A text that is the same for worlds that differ in nothing but the order of their processes. */
const keyOf = ({ record, txs, processes, forgets }: World): string => {
  const texts = processes.map(({ at, seen, tx, payment }) =>
    [at, seen?.version, seen?.state, seen?.tx, tx, payment].join(),
  )
  const made = txs.map(({ sent, ended, landed, payment }) =>
    [Number(sent), Number(ended), Number(landed), payment].join(),
  )
  return [texts.toSorted().join(), made.join(), record?.version, record?.state, record?.tx, forgets].join()
}

/** Explores every world that can be reached; gives how many there are, and the first that pays twice. */
const explore = (journal: Journal) => {
  const start: World = { record: undefined, txs: [], processes: [idle, idle], forgets: 0 }
  const known = new Set([keyOf(start)])
  const queue = [start]
  for (let world = queue.pop(); world !== undefined; world = queue.pop()) {
    const landed = world.txs.filter((tx) => tx.landed).map(({ payment }) => payment)
    if (new Set(landed).size < landed.length) return { worlds: known.size, twice: world }
    for (const next of stepsFrom(world, journal)) {
      const key = keyOf(next)
      if (known.has(key)) continue
      known.add(key)
      queue.push(next)
    }
  }
  return { worlds: known.size, twice: undefined }
}

test("in no interleaving of two processes, their crashes, the chain and a forget do two transactions of one id land", () => {
  const { worlds, twice } = explore({})
  expect(twice).toBeUndefined()
  expect(worlds).toBeGreaterThan(10_000)
})

test.each<Journal>([{ sendsFirst: true }, { forgetsEarly: true }, { guessesExpiry: true }, { reusesVersions: true }])(
  "the model sees a journal pay twice that breaks a rule: %j",
  (broken) => {
    expect(explore(broken).twice).toBeDefined()
  },
)
