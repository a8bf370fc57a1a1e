import type { ChainError } from "../relay/relay-answers.ts"

/** What nothing is logged about: these fail before a program runs. */
const beforeLogs: Readonly<Record<string, string>> = {
  AccountNotFound: "the fee payer has no SOL",
  InsufficientFundsForFee: "the fee payer has too little SOL for the fee",
}

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
  if (typeof err !== "string") return said ?? JSON.stringify(err)
  const known = Object.hasOwn(beforeLogs, err) ? beforeLogs[err] : undefined
  return said ?? (known === undefined ? err : `${known} (${err})`)
}
