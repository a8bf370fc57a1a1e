/** Commitments, in rising order. */
export const commitments = ["processed", "confirmed", "finalized"] as const

/** For how many blocks a blockhash is valid: the chain's MAX_PROCESSING_AGE. */
export const blockhashAge = 150n
