import { pg, sql } from "../drizzle.ts"
import { users } from "./accounts.ts"
import { bytea, id, isOneOf, time, visibilities } from "./columns.ts"

const { check, integer, pgTable, text, unique } = pg

export const owner = () =>
  integer("owner_id")
    .notNull()
    .references(() => users.id)

/** The index of (owner, id) serves lists, and ensures that records refer only to records of the same owner. */
export const specs = pgTable(
  "specs",
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    /** Null until there is a version. */
    entityName: text("entity_name"),
    description: text(),
    urlSlug: text("url_slug").notNull(),
    websocketUrl: text("websocket_url"),
    latestVersion: integer("latest_version").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    visibility: text({ enum: visibilities }).notNull().default("private"),
    /** JSON of `{message, since, successor?}`. */
    deprecated: text(),
    /** Nobody can read a deleted spec. Its builds and runs stay. */
    deletedAt: time("deleted_at"),
  },
  (t) => [
    unique("specs_of_owner").on(t.ownerId, t.id),
    check("specs_visibility", isOneOf(t.visibility, visibilities)),
    check("specs_url_slug", sql`${t.urlSlug} ~ '^[a-z0-9][a-z0-9-]{0,62}$'`),
    check("specs_latest_version", sql`${t.latestVersion} >= 0`),
  ],
)

/** Rows are only added. Numbers have no gaps. */
export const specVersions = pgTable(
  "spec_versions",
  {
    id: id(),
    specId: integer("spec_id")
      .notNull()
      .references(() => specs.id),
    versionNumber: integer("version_number").notNull(),
    contentHash: text("content_hash").notNull(),
    stateName: text("state_name").notNull(),
    programId: text("program_id"),
    handlerCount: integer("handler_count").notNull(),
    sectionCount: integer("section_count").notNull(),
    createdAt: time("created_at").notNull(),
    message: text(),
    /** The schema derived from the AST, as JSON, and the AST itself. */
    schema: text().notNull(),
    astGzip: bytea("ast_gzip").notNull(),
  },
  (t) => [
    unique("spec_versions_of_spec").on(t.specId, t.id),
    unique("spec_versions_number").on(t.specId, t.versionNumber),
    check("spec_versions_content_hash", sql`${t.contentHash} ~ '^[0-9a-f]{64}$'`),
    check("spec_versions_counts", sql`${t.handlerCount} >= 0 and ${t.sectionCount} >= 0`),
  ],
)
