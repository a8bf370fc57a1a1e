import { z } from "@svc/openapi"
import type { Context } from "hono"
import { policies } from "../auth/agent-policy.ts"
import type { AppEnv } from "../auth/guard.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { sendOwn } from "./conditional.ts"
import { type Endpoint, idOf } from "./endpoint.ts"
import { nextLink, type Page, pageOf, pageQuery } from "./paging.ts"
import type { Row } from "./record.ts"

/** What endpoints that read the caller's records share. */
export const reading = (answer: z.ZodType, description: string) =>
  ({
    method: "get",
    tag: "records",
    access: policies.ownRecords,
    success: [200, description, answer],
    others: { 304: ["Nothing changed since the ETag in If-None-Match"] },
  }) as const

/** The id in the path. Text that isn't a number is invalid. A number that no record can have is missing. */
export const recordId = (c: Context<AppEnv>, missing: ErrorCode): number => {
  const id = idOf(c, "invalid-request")
  if (id === undefined) throw errors.fail(missing)
  return id
}

/**
 * The rows of the record in the path that the caller can read. `sql` takes account and id. Throws `missing` if there
 * are none.
 */
export const readOne = async (c: Context<AppEnv>, sql: string, missing: ErrorCode): Promise<[Row, ...Row[]]> => {
  const id = recordId(c, missing)
  const [first, ...others] = await c.get("queries").query<Row>(sql, [c.get("principal").userId, id])
  if (first === undefined) throw errors.fail(missing)
  return [first, ...others]
}

/** Sends a page of rows. One more row than the limit means that there is another page. */
const sendPage = (c: Context<AppEnv>, page: Page, rows: readonly Row[], present: (row: Row) => unknown) => {
  const headers: Record<string, string> = rows.length > page.limit ? { link: nextLink(c, page) } : {}
  return sendOwn(c, JSON.stringify(rows.slice(0, page.limit).map(present)), headers)
}

type Present = (row: Row) => unknown

/** The list of the caller's records of one kind: `Builds`, say. `sql` takes account, limit and offset. */
export const listOf = (path: string, kind: string, answer: z.ZodType, sql: string, present: Present): Endpoint => ({
  ...reading(z.array(answer), kind),
  path,
  id: `list${kind}`,
  summary: `List ${kind.toLowerCase()}`,
  description: "Lists those that the caller can read, newest first.",
  query: pageQuery,
  codes: ["invalid-request"],
  handle: async (c) => {
    const page = pageOf(c)
    const rows = await c.get("queries").query<Row>(sql, [c.get("principal").userId, page.limit + 1, page.offset])
    return sendPage(c, page, rows, present)
  },
})

/** One of the caller's records of a kind: `Build`, say. */
export const oneOf = (
  path: string,
  kind: "Spec" | "Build" | "Deployment" | "Run",
  answer: z.ZodType,
  description: string,
  sql: string,
  present: (rows: readonly [Row, ...Row[]]) => unknown,
): Endpoint => {
  const name = kind.toLowerCase() as Lowercase<typeof kind>
  return {
    ...reading(answer, description),
    path: `${path}/{id}`,
    id: `get${kind}`,
    summary: `Get a ${name}`,
    codes: ["invalid-request", `${name}-not-found`],
    handle: async (c) => sendOwn(c, JSON.stringify(present(await readOne(c, sql, `${name}-not-found`)))),
  }
}

/**
 * The list of what belongs to a record. `sql` takes account, id, limit and offset. It returns one row without an id if
 * the page is empty, and no row if the record is missing.
 */
export const belongingsOf = (
  path: string,
  answer: z.ZodType,
  description: string,
  sql: string,
  missing: ErrorCode,
  present: Present,
): Omit<Endpoint, "id" | "summary"> => ({
  ...reading(z.array(answer), description),
  path,
  description: "Lists them newest first.",
  query: pageQuery,
  codes: ["invalid-request", missing],
  handle: async (c) => {
    const page = pageOf(c)
    const values = [c.get("principal").userId, recordId(c, missing), page.limit + 1, page.offset]
    const rows = await c.get("queries").query<Row>(sql, values)
    if (rows.length === 0) throw errors.fail(missing)
    const found = rows.filter((row) => row["id"] !== null)
    return sendPage(c, page, found, present)
  },
})
