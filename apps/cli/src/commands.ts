import type { Command, CommandGroup } from "./command.ts"
import { accountCommands } from "./commands/account.ts"
import { publishingCommands } from "./commands/publishing.ts"
import { registryCommands } from "./commands/registry.ts"
import { setupCommands } from "./commands/setup.ts"
import { transactionCommands } from "./commands/transactions.ts"

/** All commands, in the order in which the help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  registryCommands,
  accountCommands,
  transactionCommands,
  publishingCommands,
  setupCommands,
].map((group) => ({
  title: group.title,
  commands: Object.entries(group.commands).map(([name, command]) => Object.assign({ name }, command)),
}))

export const commands: readonly Command[] = commandGroups.flatMap((group) => group.commands)
