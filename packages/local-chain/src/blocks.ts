import type { Svm } from "./svm.ts"

export type Commitment = "processed" | "confirmed" | "finalized"

/** A block of the chain. `time` in Unix seconds; `landed` are the messages that used this block's hash. */
export type Block = {
  readonly slot: bigint
  readonly height: bigint
  readonly blockhash: string
  readonly time: bigint
  readonly landed: Set<string>
}

/** How many blocks a blockhash stays good for. */
export const maxAge = 150n
/** How many blocks on top of its own make a transaction final. */
export const rootDepth = 32n
const slotMs = 400
// The chain begins with slots that had no block, so that a slot can't be taken for a block height.
const emptySlots = 100n

const depths: Record<Commitment, bigint> = { processed: 0n, confirmed: 1n, finalized: rootDepth }

/** Slots at 400 ms, one block each, driven by `now` (Unix ms) whenever `tick` is called; a clock set back stops them. */
export const createBlocks = (svm: Svm, now: () => number) => {
  const start = now()
  const genesisHash = svm.latestBlockhash()
  // Enough for a blockhash to live out its age as the finalized block counts it.
  const kept = Number(maxAge + rootDepth) + 1
  const blocks: Block[] = []
  let head = -1n

  const append = (height: bigint): Block => {
    const sinceStart = Number(height - rootDepth) * slotMs
    const time = BigInt(Math.floor((start + sinceStart) / 1000))
    const blockhash = svm.nextBlockhash()
    return { slot: height + emptySlots, height, blockhash, time, landed: new Set() }
  }

  const tick = (): void => {
    const target = rootDepth + BigInt(Math.max(0, Math.floor((now() - start) / slotMs)))
    if (target <= head) return
    const oldest = target - BigInt(kept) + 1n
    for (let height = head + 1n > oldest ? head + 1n : oldest; height <= target; height++) blocks.push(append(height))
    blocks.splice(0, blocks.length - kept)
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
    /** The block of this hash, if a transaction using it could still land on top of `bank`. */
    valid: (blockhash: string, bank: Block): Block | undefined =>
      blocks.find(
        (block) => block.blockhash === blockhash && block.slot <= bank.slot && bank.height - block.height <= maxAge,
      ),
  }
}

export type Blocks = ReturnType<typeof createBlocks>
