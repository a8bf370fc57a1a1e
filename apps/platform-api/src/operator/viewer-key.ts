import { audit } from "../audit.ts"
import { insertKey, readKeySecret } from "../auth/accounts.ts"
import { normaliseOrigin } from "../auth/origin.ts"
import { and, eq, isNull, type Orm, orm, type Queries, theRow } from "../db/database.ts"
import { apiKeys, users } from "../db/schema/index.ts"
import { CommandError } from "./command-error.ts"

// Nobody can have this address: the account is the pages' own, and has no other key.
const email = "viewer@pages.invalid"

const viewerId = async (tx: Orm, at: Date): Promise<number> => {
  const values = { kind: "human", email, name: "Documentation pages", createdAt: at } as const
  await tx.insert(users).values(values).onConflictDoNothing()
  return theRow(await tx.select({ id: users.id }).from(users).where(eq(users.email, email))).id
}

/**
 * Mints a publishable key for the documentation's pages, which never expires.
 * @param given.replace whether the former keys of the same origin are revoked
 * @throws CommandError
 */
export const createViewerKey = (
  queries: Queries,
  given: { readonly origin: string; readonly replace: boolean },
  at: Date,
  randomBytes: (size: number) => Uint8Array,
) => {
  const read = normaliseOrigin(given.origin)
  if ("fault" in read)
    throw new CommandError(
      read.fault,
      "--origin must be the origin of the documentation, such as https://docs.example.com",
    )
  const { origin } = read
  return queries.transaction(async (tx) => {
    const userId = await viewerId(tx, at)
    const former = and(
      eq(apiKeys.userId, userId),
      isNull(apiKeys.revokedAt),
      orm.arrayContains(apiKeys.originAllowlist, [origin]),
    )
    const revoked = given.replace
      ? await tx.update(apiKeys).set({ revokedAt: at }).where(former).returning({ id: apiKeys.id })
      : []
    for (const { id } of revoked) await audit(tx, { at, actor: "operator", action: "key.revoke", target: `key:${id}` })
    const key = { kind: "pk", userId, name: "viewer", origins: [origin], createdAt: at } as const
    const { id, text } = await insertKey(tx, key, { randomBytes, keySecret: await readKeySecret(tx) })
    await audit(tx, { at, actor: "operator", action: "key.mint", target: `key:${id}` })
    return { id, key: text, origin, revoked: revoked.map((one) => one.id) }
  })
}
