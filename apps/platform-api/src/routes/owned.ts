import type { z } from "@svc/openapi"
import type { Context } from "hono"
import type { AppEnv } from "../auth/guard.ts"
import { isoTime } from "../db/time.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { sendOwn } from "./conditional.ts"
import { idOf } from "./endpoint.ts"
import { nextLink, type Page, pageOf } from "./paging.ts"

/** What endpoints that read the caller's records have in common. */
export const reading = (answer: z.ZodType, description: string) =>
  ({
    method: "get",
    tag: "records",
    policy: "ownRecords",
    success: [200, description, answer],
    others: { 304: ["Nothing changed since the ETag in If-None-Match"] },
  }) as const

/** A time that may not have come yet. */
export const isoTimeOrNull = (text: string | null): string | null => (text === null ? null : isoTime(text))

/** The id in the path. One that is no number is invalid; one that can't be any record's is missing like any other. */
export const recordId = (c: Context<AppEnv>, missing: ErrorCode): number => {
  const id = idOf(c, "invalid-request")
  if (id === undefined) throw errors.fail(missing)
  return id
}

/** Answers with a page of rows, given one more than the page shows when there are more. */
export const sendPage = <Row>(c: Context<AppEnv>, page: Page, rows: readonly Row[], present: (row: Row) => unknown) => {
  const headers: Record<string, string> = rows.length > page.limit ? { link: nextLink(c, page) } : {}
  return sendOwn(c, JSON.stringify(rows.slice(0, page.limit).map(present)), headers)
}

/** Answers with the page of the caller's records that the query asks for; `sql` takes account, rows and rows to skip. */
export const sendRecords = async <Row>(c: Context<AppEnv>, sql: string, present: (row: Row) => Row) => {
  const page = pageOf(c)
  const rows = await c.get("queries").query<Row>(sql, [c.get("principal").userId, page.limit + 1, page.offset])
  return sendPage(c, page, rows, present)
}
