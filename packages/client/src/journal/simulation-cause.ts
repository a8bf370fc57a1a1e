import type { ChainError } from "../relay/relay-answers.ts"

/** Why a simulation failed, in words where its logs tell it. */
export const causeOf = (err: ChainError, logs: readonly string[] | null): string => {
  const text = (logs ?? []).join("\n")
  const [, has, needs] = /insufficient lamports (\d+), need (\d+)/.exec(text) ?? []
  const lamports = (amount: string): string => BigInt(amount).toLocaleString("en")
  if (has !== undefined && needs !== undefined) return `it needs ${lamports(needs)} lamports, has ${lamports(has)}`
  // Anchor's, other programs', and the runtime's words.
  const said = /(?:Error Message: |log: Error: | failed: )(.*?)\.?$/m.exec(text)?.[1]
  if (Object(err).InsufficientFundsForRent !== undefined)
    return "it would leave an account with less than rent exemption needs"
  return said ?? (typeof err === "string" ? err : JSON.stringify(err))
}
