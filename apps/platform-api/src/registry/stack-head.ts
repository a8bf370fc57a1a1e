// What is in memory of each published stack.
import { getTableColumns, sql } from "../db/drizzle.ts"
import { stacks } from "../db/schema/index.ts"
import { type Answer, plainAnswer } from "./answer.ts"

export type PublishedStack = {
  readonly id: number
  /** The registry's revision at its last change. */
  readonly revision: number
  readonly name: string
  readonly description: string | null
  readonly websocketUrl: string
  readonly visibility: "public" | "global" | "private"
  readonly relay: boolean
  readonly browserSend: boolean
  readonly version: number
  /** What its versions belong to. */
  readonly line: string
  /** The owner (null for the operator), and the accounts that can read it while it is private. */
  readonly ownerId: number | null
  readonly viewers: ReadonlySet<number>
  /** JSON of `{message, since, successor?}`. */
  readonly deprecated: string | null
  readonly detail: string
  /** The size of its schema as JSON, and of its stored bodies. */
  readonly schemaBytes: number
  readonly bodyBytes: number
  /** Its entry in lists, as a response. */
  readonly answer: Answer
}

const { schema, schemaGzip, astGzip, ...columns } = getTableColumns(stacks)
/** Every column except the bodies. */
export const headColumns = {
  ...columns,
  schemaBytes: sql<number>`octet_length(${schema})`,
  bodyBytes: sql<number>`octet_length(${schemaGzip}) + octet_length(${astGzip})`,
}
export type HeadRow = Omit<typeof stacks.$inferSelect, "schema" | "schemaGzip" | "astGzip"> & {
  readonly schemaBytes: number
  readonly bodyBytes: number
}

/** Adds what can change without a new version. */
const detailOf = ({ detail, version, relay, deprecated }: HeadRow): string =>
  `${detail.slice(0, -1)},"version":${version},"relay":${relay}${deprecated === null ? "" : `,"deprecated":${deprecated}`}}`

export const fromRow = (row: HeadRow): PublishedStack => ({
  id: row.id,
  revision: row.revision,
  name: row.name,
  description: row.description,
  websocketUrl: row.websocketUrl,
  visibility: row.visibility,
  relay: row.relay,
  browserSend: row.browserSend,
  version: row.version,
  line: row.line,
  ownerId: row.ownerId,
  viewers: new Set(row.viewers),
  deprecated: row.deprecated,
  detail: detailOf(row),
  schemaBytes: row.schemaBytes,
  bodyBytes: row.bodyBytes,
  answer: plainAnswer(Uint8Array.from(Buffer.from(detailOf(row)))),
})
