// What is under way.
import { pg } from "../drizzle.ts"
import { users } from "./accounts.ts"
import { time } from "./columns.ts"

const { index, integer, pgTable, primaryKey, text } = pg

/** Records that a worker has to look at. What is to be done stands in the records themselves. */
export const jobs = pgTable(
  "jobs",
  {
    kind: text({ enum: ["build", "run", "deployment", "notice"] }).notNull(),
    recordId: integer("record_id").notNull(),
    ownerId: integer("owner_id").notNull(),
    specId: integer("spec_id").notNull(),
    /** When to look next; null while something else has to happen first. */
    nextAt: time("next_at"),
    /** Who has it in hand, and until when: then it is anybody's. */
    leaseBy: text("lease_by"),
    leaseUntil: time("lease_until"),
    /** Calls of the deploy hook so far, and when the first one was made. */
    attempts: integer().notNull().default(0),
    firstAttemptAt: time("first_attempt_at"),
    /** How often it was taken in hand since a step of it last came to an end. */
    claims: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.recordId] }),
    index("jobs_next").on(t.nextAt),
    index("jobs_of_spec").on(t.kind, t.specId, t.recordId),
    index("jobs_of_owner").on(t.ownerId, t.kind, t.recordId),
  ],
)

/** Answers to requests that carried an Idempotency-Key, for a day. */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    userId: integer("user_id")
      .notNull()
      .references(() => users.id),
    method: text().notNull(),
    path: text().notNull(),
    key: text().notNull(),
    bodyHash: text("body_hash").notNull(),
    status: integer().notNull(),
    location: text(),
    body: text().notNull(),
    createdAt: time("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.method, t.path, t.key] }), index("idempotency_keys_at").on(t.createdAt)],
)

/** What one replica does once a day: when it was last begun. */
export const dailyWork = pgTable("daily_work", { name: text().primaryKey(), begunAt: time("begun_at").notNull() })
