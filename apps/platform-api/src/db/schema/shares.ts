// Who can read records besides their owners.
import { pg } from "../drizzle.ts"
import { builds, deployments } from "./deployments.ts"
import { runs } from "./runs.ts"
import { specs } from "./specs.ts"
import { users } from "./accounts.ts"

const { index, integer, pgTable, primaryKey, text } = pg

/** Never the owner (a trigger checks this), because lists would show the record twice. */
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
      // By record too, because owners see who else can read a record.
      index(`${name}_of_record`).on(t.recordId, t.userId),
    ],
  )

export const specShares = shares("spec_shares", () => specs.id)
export const buildShares = shares("build_shares", () => builds.id)
export const deploymentShares = shares("deployment_shares", () => deployments.id)
export const runShares = shares("run_shares", () => runs.id)

/**
 * The number of records that an account can read in each block of 1024 ids, own and shared ones. It makes pages deep in
 * a list fast. Kept by triggers.
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
