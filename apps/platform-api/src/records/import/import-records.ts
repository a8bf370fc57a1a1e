import { audit } from "../../audit.ts"
import type { Orm, Queries } from "../../db/database.ts"
import { eq, sql } from "../../db/drizzle.ts"
import { agentProfiles, users } from "../../db/schema/index.ts"
import { checkDocument, faultAt } from "./check-document.ts"
import type { DocumentPath } from "../../registry/ast/document-fault.ts"
import { insertRecords } from "./insert-records.ts"

// Any fixed number will do, as long as every version of the service takes the same.
const importLock = 7_264_911_302

/** The account that an agent's slug or a person's e-mail address names. Throws CommandError. */
const accountOf = async (tx: Orm, who: string, at: DocumentPath): Promise<number> => {
  const [account] = who.includes("@")
    ? await tx
        .select({ id: users.id })
        .from(users)
        .where(eq(sql`lower(${users.email})`, who.toLowerCase()))
    : await tx.select({ id: agentProfiles.userId }).from(agentProfiles).where(eq(agentProfiles.slug, who))
  if (account === undefined) throw faultAt(at, "is no agent's slug and no person's e-mail address")
  return account.id
}

/**
 * Brings records of an account into the database, all or none, and gives the id of each. Throws CommandError with the
 * place of the first fault.
 * @param text the JSON document
 * @param relayUrl where streams are served: a deployment that has no URL from its build or spec gets one there
 */
export const importRecords = async (
  queries: Pick<Queries, "transaction">,
  text: string,
  options: { readonly at: Date; readonly randomBytes: (size: number) => Uint8Array; readonly relayUrl: string },
) => {
  const checked = checkDocument(text)
  const { owner, shared_with } = checked.document
  return queries.transaction(async (tx) => {
    // One import at a time: ids then rise in the order in which records come to be seen, and no two wait in a circle.
    await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(importLock))})`)
    const ownerId = await accountOf(tx, owner, ["owner"])
    const viewers = new Set<number>()
    for (const [index, who] of shared_with.entries()) {
      const viewer = await accountOf(tx, who, ["shared_with", index])
      if (viewer === ownerId) throw faultAt(["shared_with", index], "is the owner")
      viewers.add(viewer)
    }
    const ids = await insertRecords(tx, checked, { ...options, ownerId, viewers: [...viewers] })
    const target = owner.includes("@") ? `user:${ownerId}` : `agent:${owner}`
    await audit(tx, { at: options.at, actor: "operator", action: "records.import", target })
    return ids
  })
}
