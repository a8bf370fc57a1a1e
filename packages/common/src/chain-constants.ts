/** How sure the cluster is of a block, in rising order. */
export const commitments = ["processed", "confirmed", "finalized"] as const

/** How much older than its bank the oldest blockhash is that a bank takes, in blocks: the chain's MAX_PROCESSING_AGE. */
export const blockhashAge = 150n
