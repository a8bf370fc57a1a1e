/** A stack of our own making, published into a new embedded database. */
export interface SampleStack {
  name: string
  /** Its AST. */
  file: URL
  description: string
  visibility: "public" | "global" | "private"
  /** Whether session tokens for it may carry the transaction scopes. */
  relay: boolean
  /** Whether publishable keys may get `transaction:send`. */
  browser_send: boolean
}

const sample = (name: string, description: string, relay = false): SampleStack => ({
  name,
  file: new URL(`${name}.stack.json`, import.meta.url),
  description,
  visibility: "public",
  relay,
  browser_send: false,
})

export const sampleStacks: readonly SampleStack[] = [
  sample("transfers", "SOL transfers as they land, the wallets that send them, and token balances", true),
  sample("stake-accounts", "Stake accounts with their delegations and lockups, and the validators they back"),
  sample(
    "name-service",
    "Names registered with the SPL name service, their owners and their parents; no records on a local chain, which lacks the program",
  ),
  sample(
    "token-swaps",
    "Concentrated-liquidity pools of Orca and order books of OpenBook; no records on a local chain, which lacks the programs",
  ),
]
