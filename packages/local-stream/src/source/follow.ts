import type { Address } from "@solana/kit"
import { type Account, type Block, BlockGone, type Chain } from "./chain.ts"

/** Consecutive blocks, and the accounts that they wrote. */
export type Batch = { readonly blocks: readonly Block[]; readonly accounts: readonly Account[] }

/** How a source is read again and again until the signal aborts. */
export type Polling = {
  readonly onProblem: (reason: string) => void
  readonly sleep: (ms: number) => Promise<void>
  readonly signal: AbortSignal
}

export type Follower = Polling & {
  /** Programs whose transactions' written accounts are read. */
  readonly watchedPrograms: () => ReadonlySet<string>
  readonly onBatch: (batch: Batch) => void
  /** The source is another chain, or has dropped blocks that we haven't read: earlier data is void. */
  readonly onNewChain: () => void
}

const pollMs = 150
const longestWaitMs = 5_000
const blocksAtOnce = 16
const slotsAtOnce = 1_000n
/** A chain with fewer slots is a local one, and is read from its first block. */
const shortChain = 100_000n
const mostKnown = 300

const writtenBy = (blocks: readonly Block[], programs: ReadonlySet<string>): readonly Address[] => {
  const transactions = blocks.flatMap((block) => block.transactions)
  const calling = transactions.filter(({ instructions }) => instructions.some(({ program }) => programs.has(program)))
  return [...new Set(calling.flatMap(({ instructions }) => instructions.flatMap(({ writable }) => writable)))]
}

/** Passes on every new confirmed block in order until the signal aborts. Retries every failure. */
export const followChain = async (chain: Chain, follower: Follower): Promise<void> => {
  const { watchedPrograms, onBatch, onNewChain, onProblem, sleep, signal } = follower
  /** The newest blocks that were read, by slot. Another chain has different ones. */
  const known = new Map<bigint, string>()
  let next: bigint | undefined
  let suspicious = false

  const startAgain = (): void => {
    known.clear()
    next = undefined
    onNewChain()
  }

  /** Whether the newest block that we and the source should share is the same. */
  const isSameChain = async (newest: bigint): Promise<boolean> => {
    const slot = [...known.keys()].findLast((one) => one <= newest)
    if (slot === undefined) return known.size === 0
    const [block] = await chain.block(slot)
    return block?.identity === known.get(slot)
  }

  const read = async (slots: readonly bigint[]): Promise<void> => {
    const blocks = (await Promise.all(slots.map(chain.block))).flat()
    const last = slots.at(-1) ?? 0n
    const accounts = await chain.accounts(writtenBy(blocks, watchedPrograms()), last)
    onBatch({ blocks, accounts })
    next = last + 1n
    for (const { slot, identity } of blocks) known.set(slot, identity)
    for (const slot of [...known.keys()].slice(0, -mostKnown)) known.delete(slot)
  }

  /** Reads what is new. Returns whether there is more. */
  const look = async (): Promise<boolean> => {
    const newest = await chain.slot()
    if (next === undefined) {
      const first = await chain.firstSlot()
      next = newest - first < shortChain ? first : newest
    }
    if ((suspicious || newest + 1n < next) && !(await isSameChain(newest))) {
      startAgain()
      return true
    }
    suspicious = false
    if (newest < next) return false
    const last = newest - next < slotsAtOnce ? newest : next + slotsAtOnce
    const slots = await chain.slots(next, last)
    for (let index = 0; index < slots.length && !signal.aborted; index += blocksAtOnce) {
      await read(slots.slice(index, index + blocksAtOnce))
    }
    next = last + 1n
    return last < newest
  }

  let waitMs = pollMs
  while (!signal.aborted) {
    try {
      const more = await look()
      waitMs = more ? 0 : pollMs
    } catch (error) {
      suspicious = true
      waitMs = Math.min(2 * Math.max(waitMs, pollMs), longestWaitMs)
      onProblem(error instanceof Error ? error.message : String(error))
      if (error instanceof BlockGone) startAgain()
    }
    await sleep(waitMs)
  }
}
