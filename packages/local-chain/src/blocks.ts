import { blockhashAge } from "@svc/common/chain-constants"
import type { Svm } from "./transactions/svm.ts"

export type Commitment = "processed" | "confirmed" | "finalized"

/**
 * A block of the chain. `time` in Unix seconds; `landed` are the messages that used this block's hash, `signatures` those
 * of its own transactions in their order.
 */
export type Block = {
  readonly slot: bigint
  readonly height: bigint
  readonly blockhash: string
  readonly time: bigint
  readonly parent: { readonly slot: bigint; readonly blockhash: string }
  readonly landed: Set<string>
  readonly signatures: string[]
}

/** How many blocks on top of its own make a transaction final. */
export const rootDepth = 32n
const slotMs = 400
// The chain begins with slots that had no block, so that a slot can't be confused with a block height.
const emptySlots = 100n
/** How many blocks can be read. */
const archiveSize = 20_000

const depths: Record<Commitment, bigint> = { processed: 0n, confirmed: 1n, finalized: rootDepth }

/** Makes slots of 400 ms with one block each, up to `now` (Unix ms) whenever `tick` is called. A clock that is set back pauses them. */
export const createBlocks = (svm: Svm, now: () => number) => {
  const start = now()
  const genesisHash = svm.latestBlockhash()
  // Enough for a blockhash to expire as seen from the finalized block.
  const kept = Number(blockhashAge + rootDepth) + 1
  const blocks: Block[] = []
  const archive = new Map<bigint, Block>()
  let head = -1n

  /** The oldest slot that can still be read. */
  const firstSlot = (): bigint => archive.keys().next().value ?? head + emptySlots

  const append = (height: bigint): Block => {
    const sinceStart = Number(height - rootDepth) * slotMs
    const time = BigInt(Math.floor((start + sinceStart) / 1000))
    const { slot, blockhash } = blocks.at(-1) ?? { slot: emptySlots - 1n, blockhash: genesisHash }
    return {
      slot: height + emptySlots,
      height,
      blockhash: svm.nextBlockhash(),
      time,
      parent: { slot, blockhash },
      landed: new Set(),
      signatures: [],
    }
  }

  const tick = (): void => {
    const target = rootDepth + BigInt(Math.max(0, Math.floor((now() - start) / slotMs)))
    if (target <= head) return
    const oldest = target - BigInt(kept) + 1n
    for (let height = head + 1n > oldest ? head + 1n : oldest; height <= target; height++) {
      const block = append(height)
      blocks.push(block)
      archive.set(block.slot, block)
    }
    blocks.splice(0, blocks.length - kept)
    while (archive.size > archiveSize) archive.delete(firstSlot())
    head = target
    const slotHashes = blocks.map(({ slot, blockhash }) => ({ slot, hash: blockhash })).toReversed()
    svm.setTime(head + emptySlots, blocks.at(-1)?.time ?? 0n, slotHashes.slice(1))
  }

  const at = (commitment: Commitment): Block => {
    const block = blocks.at(-1 - Number(depths[commitment]))
    if (block === undefined) throw new Error("the chain has no block yet")
    return block
  }

  tick()
  return {
    genesisHash,
    tick,
    at,
    firstSlot,
    /** The block of a slot; undefined for one that was skipped or is too old. */
    read: (slot: bigint): Block | undefined => archive.get(slot),
    /** The slots with a block from `first` to `last`, both included. */
    slots: (first: bigint, last: bigint): bigint[] =>
      [...archive.keys()].filter((slot) => slot >= first && slot <= last),
    /** Drops a block and all before it, because its transactions aren't all known anymore. */
    forget: ({ slot }: Block): void => {
      while (archive.size > 0 && firstSlot() <= slot) archive.delete(firstSlot())
    },
    /** The block with this hash, if a transaction with it could still land after `bank`. */
    valid: (blockhash: string, bank: Block): Block | undefined =>
      blocks.find(
        (block) =>
          block.blockhash === blockhash && block.slot <= bank.slot && bank.height - block.height <= blockhashAge,
      ),
  }
}

export type Blocks = ReturnType<typeof createBlocks>
