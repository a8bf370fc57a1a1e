import type { Command } from "./command.ts"
import { accountCommands } from "./commands/account.ts"
import { publishingCommands } from "./commands/publishing.ts"
import { registryCommands } from "./commands/registry.ts"
import { setupCommands } from "./commands/setup.ts"
import { transactionCommands } from "./commands/transactions.ts"

/** All commands, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  registryCommands,
  accountCommands,
  transactionCommands,
  publishingCommands,
  setupCommands,
].flatMap(({ title, commands: group }) =>
  Object.entries(group).map(([name, command]) => Object.assign({ name, title }, command)),
)
