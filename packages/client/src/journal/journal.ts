import { type Clock, systemClock } from "../http/clock.ts"
import { asSvcError, type SvcError } from "../http/error.ts"
import { createRecords } from "./journal-records.ts"
import { readPayment, type SignedPayment } from "./payment.ts"
import { type BuildPayment, duplicate, prepare } from "./prepare.ts"
import type { Relay, Transaction } from "../relay/relay.ts"
import type { LoopOptions } from "../submit/settle-loop.ts"
import { createSettler, type PaymentOutcome, type Shared } from "./settle-record.ts"
import type { PaymentRecord, Store } from "./store.ts"
import { refusal } from "../relay/wire.ts"

const parallelSettlements = 8

export type JournalOptions = Shared & {
  readonly relay: Relay
  /** `fileStore` of svc-client/node, `indexedDbStore`, or your own. */
  readonly store: Store
  /**
   * The genesis hash of the relay's chain, such as `transactions.chain.genesis_hash` of its `GET /health?chain=true`; undefined if it
   * can't be told. It is stored with each payment, and compared when a later call continues it.
   */
  readonly genesisHash?: (() => Promise<string | undefined>) | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

export type SubmitOnceOptions = Shared &
  Omit<LoopOptions, "clock" | "minContextSlot"> & {
    /**
     * What the payment is for, such as recipient and amount. A known id is compared by it, without calling `build`; bytes that
     * were signed elsewhere are compared too.
     */
    readonly purpose?: string | undefined
    /** How many transactions may be signed for this id, each after the last one has expired; default: any number. */
    readonly maxAttempts?: number | undefined
    /** For bytes that were signed elsewhere: the last block height of their blockhash, if known. */
    readonly lastValidBlockHeight?: bigint | undefined
  }

export type SettleAllOptions = Shared &
  Pick<LoopOptions, "signal" | "commitment" | "rebroadcastMs"> & {
    /** Only this payment, even if it isn't open. */
    readonly id?: string | undefined
  }

/** Each member but the purpose, which a later attempt keeps, is set for every attempt, if only to undefined. */
type Attempt = PaymentRecord & {
  readonly [Member in Exclude<keyof PaymentRecord, "purpose">]-?: PaymentRecord[Member] | undefined
}

/** What `settleAll` found out about one payment. */
export type Settlement = { readonly id: string } & PaymentOutcome

const checkId = (id: unknown): void => {
  if (
    typeof id === "string" &&
    id === id.normalize() &&
    /^[^\p{C}\p{Z}]+(?: +[^\p{C}\p{Z}]+)*$/u.test(id) &&
    new TextEncoder().encode(id).length <= 200
  )
    return
  throw refusal("invalid-id", "An id is 1 to 200 bytes of printable UTF-8 in NFC, spaces only inside")
}

const reused = (id: string, { state, signature, err }: PaymentRecord, stored: object, given: object): SvcError =>
  refusal(
    "id-reused",
    `This call sent nothing: "${id}" is ${"purpose" in given ? "a payment with another purpose" : "another payment"} (${err ? "failed" : state}): use another id only to pay again`,
    {
      stored: { ...stored, signature, state, err },
      given,
    },
  )

const duplicateOf = (id: string, other: string): SvcError =>
  duplicate(` for "${id}"`, `"${other}" has this transaction`)

const givenUp = (reason: string): SvcError => refusal("aborted", `Nothing was stored or sent: ${reason}`)

/** Says that this call didn't bring the outcome about. */
const replayed = (outcome: PaymentOutcome): PaymentOutcome =>
  outcome.state === "undecided" ? outcome : { ...outcome, replayed: true }

/** The signatures that this process is working on, with their ids, in whatever journal. */
const working = new Map<string, string>()

/**
 * A journal of payments. At most one transaction per id ever lands, even if processes crash at any moment or many try at
 * once. All of them must share one store.
 *
 * @example
 * const journal = createJournal({ relay, store: fileStore("payments") })
 * const outcome = await journal.submitOnce("invoice-42", ({ blockhash }) => yourWalletSigns(blockhash))
 */
export const createJournal = ({
  relay,
  store,
  allowRelay,
  genesisHash = async () => undefined,
  clock = systemClock,
}: JournalOptions) => {
  const records = createRecords(store)
  const { read, write, list, forget } = records
  const settle = createSettler({ relay, records, allowRelay, genesisHash, clock })
  const submitOnce = async (
    id: string,
    source: BuildPayment | Transaction,
    options: SubmitOnceOptions = {},
  ): Promise<PaymentOutcome> => {
    const { purpose, maxAttempts = Infinity } = options
    checkId(id)
    const plan = typeof source === "function" ? source : await readPayment(source)
    const signed = typeof plan === "function" ? undefined : plan
    let given = signed

    /** Whether a record is of this payment. Throws `id-reused`, unless the record was refused and may be replaced. */
    const isSame = async (record: PaymentRecord): Promise<boolean> => {
      const stored = await readPayment(record.transaction)
      if (purpose !== undefined && record.purpose !== undefined) {
        if (purpose !== record.purpose)
          throw reused(id, record, { ...stored.facts, purpose: record.purpose }, { purpose })
        if (signed === undefined) return true
      }
      if (typeof plan === "function" && given === undefined) {
        // With the stored blockhash, whatever is signed now expires with the stored transaction.
        const lastValidBlockHeight = BigInt(record.lastValidBlockHeight)
        given = await readPayment(await plan({ blockhash: stored.blockhash, lastValidBlockHeight }))
      }
      if (given?.facts.fingerprint === stored.facts.fingerprint) return true
      if (record.refused !== undefined && record.state !== "landed") return false
      throw reused(id, record, stored.facts, given?.facts ?? {})
    }

    for (let isFirst = true; ; isFirst = false) {
      const record = await read(id)
      const known = record?.state === "forgotten" ? undefined : record
      if (known !== undefined && known.state !== "expired") {
        const resend = await isSame(known)
        const outcome = await settle(known, { ...options, resend })
        if (outcome.state === "landed" && !resend) {
          throw reused(id, known, (await readPayment(known.transaction)).facts, given?.facts ?? {})
        }
        if (outcome.state === "expired" && signed?.signature !== known.signature) continue
        return replayed(outcome)
      }

      if (known !== undefined) {
        const { signature, attempt } = known
        if (signed?.signature === signature) return replayed({ state: "expired", signature })
        if (purpose !== undefined && known.purpose !== undefined) await isSame(known)
        if (attempt >= maxAttempts) {
          throw refusal("attempts-exhausted", `All ${attempt} transactions of "${id}" have expired`)
        }
      } else if (record !== undefined && !isFirst) {
        throw refusal("payment-forgotten", `"${id}" was forgotten during this run: run again to pay anew`)
      }
      const check = async (payment: SignedPayment): Promise<void> => {
        given = payment
        if (known !== undefined) await isSame(known)
      }
      let prepared
      try {
        prepared = await prepare(relay, plan, { ...options, clock }, check)
      } catch (error) {
        // The simulation also fails if another process has just paid.
        if ((await read(id))?.version !== record?.version) continue
        throw options.signal?.aborted ? givenUp((error as SvcError).message) : error
      }
      const { base64, signature, facts } = prepared.payment
      if (options.signal?.aborted) throw givenUp("Aborted")
      const twinOf = async (): Promise<string | undefined> =>
        (await list()).find((one) => one.id !== id && "signature" in one && one.signature === signature)?.id
      const stored = await twinOf()
      const now = new Date().toISOString()
      const attempt: Attempt = {
        id,
        version: (record?.version ?? 0) + 1,
        state: "open",
        attempt: (known?.attempt ?? 0) + 1,
        signature,
        transaction: base64,
        lastValidBlockHeight: String(prepared.lastValidBlockHeight),
        fingerprint: facts.fingerprint,
        payer: facts.payer,
        programs: facts.programs,
        relayUrl: relay.url,
        genesisHash: await genesisHash(),
        finalizedHeight: String(prepared.finalizedHeight),
        storedAt: now,
        stateSince: now,
        refused: undefined,
        slot: undefined,
        err: undefined,
      }
      const next: PaymentRecord = { ...known, ...attempt, ...(purpose !== undefined && { purpose }) }
      // Nothing waits between the look and the mark: of those at once, one goes on.
      const other = working.get(signature) ?? stored ?? id
      if (other !== id) throw duplicateOf(id, other)
      working.set(signature, id)
      try {
        if (!(await write(next))) continue
        // Only what is stored can be seen by others: of two that store it at once, each sees the other.
        const twin = await twinOf()
        if (twin !== undefined) {
          await forget(id, { force: true })
          throw duplicateOf(id, twin)
        }
        const outcome = await settle(next, { ...options, ...prepared })
        if (outcome.state !== "expired" || signed !== undefined) return prepared.isMine ? outcome : replayed(outcome)
      } finally {
        working.delete(signature)
      }
    }
  }

  const settleAll = async (options: SettleAllOptions = {}): Promise<Settlement[]> => {
    const queue = (await list({ open: options.id === undefined })).filter(({ id }) =>
      [id, undefined].includes(options.id),
    )
    const settled: Settlement[] = []
    const work = async (): Promise<void> => {
      const record = queue.pop()
      if (record === undefined || record.state === "damaged") return
      const { id, signature, refused } = record
      // The caller who received the refusal decides whether to send it again.
      const outcome = settle(record, { ...options, resend: refused === undefined })
      settled.push({
        id,
        ...(await outcome.catch((thrown: unknown): PaymentOutcome => {
          return { state: "undecided", signature, lastError: asSvcError(thrown, "settle-failed", "Settling failed") }
        })),
      })
      return work()
    }
    await Promise.all(Array.from({ length: parallelSettlements }, work))
    return settled
  }

  return {
    /**
     * Pays once: builds, simulates, stores and sends a transaction, or continues what an earlier run or another process began.
     * Bytes that were signed elsewhere can be passed instead of `build`.
     *
     * @returns `landed` (check `err`), with `replayed: true` when an earlier run landed it; `undecided` after `signal`: call again;
     * `undecided` with `journal-stale`: a person decides.
     * @throws SvcError `id-reused`, `simulation-failed`, `blockhash-not-found`, `wrong-blockhash`, `durable-nonce`, `attempts-exhausted`, `aborted`, `other-relay`,
     * `other-chain`, `payment-forgotten`, `duplicate-transaction`, `signature_verification_failed`, `lookup-failed`, `invalid-id`, `journal-damaged`, `journal-unavailable`; the
     * relay's refusal; and what `build` throws.
     */
    submitOnce,
    /** The record of an id. Throws SvcError `journal-damaged`. */
    get: async (id: string): Promise<PaymentRecord | undefined> => {
      const record = await read(id)
      return record?.state === "forgotten" ? undefined : record
    },
    /** All records, or the open ones. */
    list,
    /** Finds out what became of all open payments, and sends their stored bytes again. It signs nothing. */
    settleAll,
    /**
     * Forgets a payment, so the next run under its id is a new payment. Throws SvcError `payment-open` while it may still
     * land. `force` also forgets an open or a damaged one.
     */
    forget,
  }
}

/** What `createJournal` makes. */
export type Journal = ReturnType<typeof createJournal>
