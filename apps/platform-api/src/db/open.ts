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
  { databaseUrl: url, dataFolder: folder }: Pick<Config, "databaseUrl" | "dataFolder">,
  { statementMs, now }: { readonly statementMs: number; readonly now: () => number },
): Promise<{ readonly database: Database; readonly applied: number }> => {
  const database =
    url === undefined
      ? await (await import("./embedded/embedded.ts")).openEmbeddedDatabase({ folder, now })
      : (await import("./server/server.ts")).openServerDatabase({ url, statementMs, connections: 10, now })
  try {
    return { database, applied: await migrate(database.within(migrationMs)) }
  } catch (error) {
    await database.close()
    throw error
  }
}
