// Who sees records besides their owners.
import { pg } from "../drizzle.ts"
import { builds, deployments } from "./deployments.ts"
import { runs } from "./runs.ts"
import { specs } from "./specs.ts"
import { users } from "./accounts.ts"

const { index, integer, pgTable, primaryKey, text } = pg

/** Who sees a record besides its owner; never the owner again (a trigger), or lists would show it twice. */
const shares = (
  name: string,
  recordId: () => typeof specs.id | typeof builds.id | typeof deployments.id | typeof runs.id,
) =>
  pgTable(
    name,
    {
      userId: integer("user_id")
        .notNull()
        .references(() => users.id),
      recordId: integer("record_id").notNull().references(recordId),
    },
    (t) => [
      primaryKey({ columns: [t.userId, t.recordId] }),
      // By record too: who else sees a record is told to its owner.
      index(`${name}_of_record`).on(t.recordId, t.userId),
    ],
  )

export const specShares = shares("spec_shares", () => specs.id)
export const buildShares = shares("build_shares", () => builds.id)
export const deploymentShares = shares("deployment_shares", () => deployments.id)
export const runShares = shares("run_shares", () => runs.id)

/**
 * How many records of a kind an account sees (its own and shared ones) among each 1024 ids: pages far down a list are
 * found by these. Kept by triggers.
 */
export const recordBlocks = pgTable(
  "record_blocks",
  {
    kind: text().notNull(),
    userId: integer("user_id").notNull(),
    block: integer().notNull(),
    records: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.userId, t.block] })],
)
