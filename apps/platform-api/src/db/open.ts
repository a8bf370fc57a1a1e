import type { Config } from "../config.ts"
import type { Database } from "./database.ts"
import { migrate } from "./migrate.ts"

const migrationMs = 600_000

/**
 * Opens the configured database and migrates it: the server at DATABASE_URL, otherwise the embedded one in the data
 * folder. Throws DatabaseUnavailable, FolderInUse or OpenDataFolder.
 * @param statementMs time limit for one statement on a server, in milliseconds; 0 for none
 */
export const openDatabase = async (
  config: Pick<Config, "databaseUrl" | "dataFolder">,
  { statementMs, now }: { readonly statementMs: number; readonly now: () => number },
): Promise<{ readonly database: Database; readonly applied: number }> => {
  const database = await open(config, statementMs, now)
  try {
    return { database, applied: await migrate(database.within(migrationMs)) }
  } catch (error) {
    await database.close()
    throw error
  }
}

const open = async (
  config: Pick<Config, "databaseUrl" | "dataFolder">,
  statementMs: number,
  now: () => number,
): Promise<Database> => {
  const url = config.databaseUrl
  if (url === undefined) {
    const { openEmbeddedDatabase } = await import("./embedded/embedded.ts")
    return openEmbeddedDatabase({ folder: config.dataFolder, now })
  }
  const { openServerDatabase } = await import("./server/server.ts")
  return openServerDatabase({ url, statementMs, connections: 10, now })
}
