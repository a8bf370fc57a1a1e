// Work in progress.
import { pg } from "../database.ts"
import { users } from "./accounts.ts"
import { refersTo, time } from "./columns.ts"

const { index, integer, pgTable, primaryKey, text } = pg

/** Records that a worker must process. The records themselves say what to do. */
export const jobs = pgTable(
  "jobs",
  {
    kind: text({ enum: ["build", "run", "deployment", "notice"] }).notNull(),
    recordId: integer("record_id").notNull(),
    ownerId: integer("owner_id").notNull(),
    specId: integer("spec_id").notNull(),
    /** When to process it next; null while it waits for something else. */
    nextAt: time("next_at"),
    /** The worker that holds it, and until when. */
    leaseBy: text("lease_by"),
    leaseUntil: time("lease_until"),
    /** Calls of the deploy hook so far, and when the first was made. */
    attempts: integer().notNull().default(0),
    firstAttemptAt: time("first_attempt_at"),
    /** How often it was claimed since it last completed a step. */
    claims: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.recordId] }),
    index("jobs_next").on(t.nextAt),
    index("jobs_of_owner").on(t.ownerId, t.kind, t.recordId),
    index("jobs_of_spec").on(t.kind, t.specId, t.recordId),
  ],
)

/** Responses to requests with an Idempotency-Key, kept for a day. */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    userId: refersTo("user_id", () => users.id),
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

/** Work that one replica does once a day, and when it last started. */
export const dailyWork = pgTable("daily_work", { name: text().primaryKey(), begunAt: time("begun_at").notNull() })
