import { compose } from "./compose.ts"
import { nameService } from "./name-service.ts"
import { stakeAccounts } from "./stake-accounts.ts"
import { tokenSwaps } from "./token-swaps.ts"
import { transfers } from "./transfers.ts"

/** The AST of every sample, by its name in the registry. */
export const sampleAsts: Readonly<Record<string, object>> = {
  transfers: compose(transfers),
  "stake-accounts": compose(stakeAccounts),
  "name-service": compose(nameService),
  "token-swaps": compose(tokenSwaps),
}
