// What readers of the registry are told of its changes.
import { orm, pg } from "./drizzle.ts"
import { time } from "./schema.ts"

const { sql } = orm
const { bigint, check, index, integer, pgTable, text } = pg

export const changeKinds = ["published", "rolled-back", "deprecated", "undeprecated", "withdrawn", "restored"] as const

/**
 * One row per change that a reader of a stack notices, added by a trigger on `stacks`. An id is the registry's revision,
 * raised under a lock that is held until the commit: ids become visible in their order.
 */
export const registryChanges = pgTable(
  "registry_changes",
  {
    id: bigint({ mode: "number" }).primaryKey(),
    at: time("at").notNull(),
    stack: text().notNull(),
    line: text().notNull(),
    kind: text({ enum: changeKinds }).notNull(),
    version: integer().notNull(),
    previousVersion: integer("previous_version"),
    verdict: text({ enum: ["none", "compatible", "breaking"] }).notNull(),
    bump: text({ enum: ["none", "patch", "minor", "major"] }).notNull(),
    message: text(),
    successor: text(),
    /** Who sees the stack today; for `withdrawn`, who saw it until then. Kept up to date by the trigger. */
    visibility: text({ enum: ["public", "global", "private"] }).notNull(),
    viewers: integer().array().notNull(),
    /** Whose view did not change, where only who sees the stack did: those who saw it before, or still see it. */
    exceptVisibility: text("except_visibility", { enum: ["public", "global", "private"] }),
    exceptViewers: integer("except_viewers").array().notNull(),
  },
  (t) => [
    index("registry_changes_of_line").on(t.line, t.id),
    index("registry_changes_of_stack").on(t.stack, t.id),
    index("registry_changes_at").on(t.at),
    check(
      "registry_changes_kind",
      sql`${t.kind} in ('published', 'rolled-back', 'deprecated', 'undeprecated', 'withdrawn', 'restored')`,
    ),
  ],
)
