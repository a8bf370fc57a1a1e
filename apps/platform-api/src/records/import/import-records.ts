import { audit } from "../../audit.ts"
import type { Orm, Queries } from "../../db/database.ts"
import { eq, sql } from "../../db/drizzle.ts"
import { agentProfiles, users } from "../../db/schema/index.ts"
import { checkDocument, faultAt } from "./check-document.ts"
import type { DocumentPath } from "../../registry/ast/document-fault.ts"
import { insertRecords } from "./insert-records.ts"

// Any fixed number, but the same in every version of the service.
const importLock = 7_264_911_302

/** Finds the account of an agent's slug or a person's e-mail address. Throws CommandError. */
const accountOf = async (tx: Orm, who: string, at: DocumentPath): Promise<number> => {
  const [account] = who.includes("@")
    ? await tx
        .select({ id: users.id })
        .from(users)
        .where(eq(sql`lower(${users.email})`, who.toLowerCase()))
    : await tx.select({ id: agentProfiles.userId }).from(agentProfiles).where(eq(agentProfiles.slug, who))
  if (account === undefined) throw faultAt(at, "isn't an agent's slug or a person's e-mail address")
  return account.id
}

/**
 * Imports records of an account, all or none, and returns the id of each. Throws CommandError with the place of the
 * first error.
 * @param text the JSON document
 * @param streamUrl where streams are served, for deployments without a URL from their build or spec
 */
export const importRecords = async (
  queries: Pick<Queries, "transaction">,
  text: string,
  options: { readonly at: Date; readonly randomBytes: (size: number) => Uint8Array; readonly streamUrl: string },
) => {
  const checked = checkDocument(text)
  const { owner, shared_with } = checked.document
  return queries.transaction(async (tx) => {
    // One import at a time, so that ids become visible in order and imports can't deadlock.
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
