import { bucketNetwork } from "@svc/http"
import { addressesPerNetwork } from "@svc/limits"
import { hashKey, keyHint, mintKey } from "@svc/keys"
import { audit } from "../audit.ts"
import { and, desc, eq, gt, gte, lt, type Orm, type Queries, someRows, sql, theRow, together } from "../db/database.ts"
import { makeAgentSlug } from "../records/names.ts"
import { agentProfiles, apiKeys, keySecrets, signups, users } from "../db/schema/index.ts"

/** The secret behind the tag of every key. It is the same for all replicas and never changes. */
export const readKeySecret = async (db: Orm): Promise<Uint8Array> =>
  theRow(await db.select({ secret: keySecrets.secret }).from(keySecrets)).secret

/** What the text of a key is made of. */
export type KeyMaterial = {
  readonly randomBytes: (size: number) => Uint8Array
  readonly keySecret: Uint8Array
}

/** Creates a key and its row. Only the result contains the key itself. */
export const insertKey = async (
  tx: Orm,
  {
    kind,
    origins,
    ...row
  }: { readonly kind: "ak" | "pk" | "sk"; readonly origins?: readonly string[] | undefined } & Readonly<
    Pick<typeof apiKeys.$inferInsert, "userId" | "name" | "createdAt" | "expiresAt" | "replaces">
  >,
  { randomBytes, keySecret }: KeyMaterial,
): Promise<{ readonly id: number; readonly text: string }> => {
  const text = mintKey(kind, randomBytes, keySecret)
  const hint = keyHint(text)
  const stored = await tx
    .insert(apiKeys)
    .values({
      ...row,
      keyHash: hashKey(text),
      keyClass: kind === "pk" ? "publishable" : "secret",
      prefix: hint.slice(0, 7),
      lastFour: hint.slice(-4),
      originAllowlist: origins && [...origins],
    })
    .returning({ id: apiKeys.id })
  return { id: theRow(stored).id, text }
}

// An hour and a millisecond, because stored times are rounded.
const signupWindow = sql`interval '3600.001 seconds'`
const clock = sql`clock_timestamp()`
const windowStart = sql`${clock} - ${signupWindow}`

/**
 * Creates an agent with its first key, unless its address or its network has used up its sign-ups. An address has never more
 * than `perHour` in any 60 minutes, and an IPv6 /48 as many as 16 addresses, by the database's clock and lock, across all
 * replicas. Throws DatabaseUnavailable.
 * @param bucket the client's address as it is counted (IPv6 by /64)
 * @returns the agent; or the whole seconds until the next sign-up, if they are used up
 */
export const signUp = (
  queries: Queries,
  who: {
    readonly displayName: string | undefined
    readonly bucket: string
    readonly address: string
    readonly requestId: string
  },
  perHour: number,
  at: Date,
  material: KeyMaterial,
) =>
  queries.transaction(
    async (tx) => {
      const network = bucketNetwork(who.bucket)
      /** How long to wait, if these addresses have used up so many sign-ups. */
      const waitOf = (addresses: ReturnType<typeof and>, most: number) =>
        tx
          .select({ wait: sql<number>`least(extract(epoch from ${signups.at} - (${windowStart})), 3600)::float8` })
          .from(signups)
          .where(and(addresses, gt(signups.at, windowStart)))
          .orderBy(desc(signups.at))
          .offset(most - 1)
          .limit(1)
      // Every address of the network begins with it, and the index sorts them together.
      const [start] = network.split("/")
      const inNetwork = and(gte(signups.address, `${start}`), lt(signups.address, `${start}g`))
      // Statements that don't need each other's results are sent together. The server runs them in this order.
      const [, ...waits] = await together(
        // Sign-ups from one network run one after the other. The next statements see what the previous one committed.
        tx.execute(sql`select pg_advisory_xact_lock(1398166611, hashtext(${network}))`),
        waitOf(eq(signups.address, who.bucket), perHour),
        ...(network === who.bucket ? [] : [waitOf(inNetwork, addressesPerNetwork * perHour)]),
      )
      const [longest] = waits.flat().toSorted((a, b) => b.wait - a.wait)
      if (longest !== undefined) return { waitSeconds: Math.max(1, Math.ceil(longest.wait)) }
      const user = theRow(await tx.insert(users).values({ kind: "agent", createdAt: at }).returning({ id: users.id }))
      const slug = makeAgentSlug(material.randomBytes)
      const displayName = who.displayName ?? `agent-${slug}`
      const key = { kind: "ak", userId: user.id, name: "signup", createdAt: at } as const
      const [{ id, text }] = await together(
        insertKey(tx, key, material),
        tx.insert(agentProfiles).values({ userId: user.id, slug, displayName, createdAt: at, lastSeenAt: at }),
        tx.insert(signups).values({ address: who.bucket, at: clock }),
        audit(tx, {
          at,
          actor: `agent:${slug}`,
          action: "agent.signup",
          target: `agent:${slug}`,
          address: who.address,
          requestId: who.requestId,
        }),
      )
      return { slug, displayName, key: text, keyId: id }
    },
    `sign-up ${bucketNetwork(who.bucket)}`,
  )

/**
 * Deletes sign-ups that no longer count, because addresses are kept only as long as needed. If the database's clock was
 * set back, sign-ups from the future count from now on, so nobody waits longer than the window.
 */
export const forgetSignups = (queries: Queries): Promise<unknown> =>
  queries.run(async (db) => {
    await db.delete(signups).where(someRows(signups, lt(signups.at, windowStart)))
    await db.update(signups).set({ at: clock }).where(gt(signups.at, clock))
  })

/** Locks the account until the transaction ends, so that changes of its keys and records happen one at a time. */
export const lockUser = async (tx: Orm, userId: number): Promise<void> => {
  await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for("no key update")
}
