/** @param relay whether session tokens for it may carry the transaction scopes */
const sample = (name: string, description: string, relay = false) => ({
  name,
  /** Its AST. */
  file: new URL(`${name}.stack.json`, import.meta.url),
  description,
  relay,
})

/** Stacks of our own making, published into a new embedded database. Anyone can read them. */
export const sampleStacks = [
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
