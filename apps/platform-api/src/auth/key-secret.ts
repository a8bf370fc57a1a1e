import type { Orm } from "../db/database.ts"
import { keySecrets } from "../db/schema/index.ts"

/** The secret behind the tag of every key. It is the same for all replicas and never changes. */
export const readKeySecret = async (db: Orm): Promise<Uint8Array> => {
  const [row] = await db.select({ secret: keySecrets.secret }).from(keySecrets)
  if (row === undefined) throw new Error("the database has no secret for keys")
  return row.secret
}
