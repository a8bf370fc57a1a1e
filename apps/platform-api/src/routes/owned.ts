// What routes that read the caller's records share.
import { json, z } from "@svc/openapi"
import type { Context } from "hono"
import { type AppEnv, authenticated, policies } from "../auth/guard.ts"
import type { Orm } from "../db/database.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { access, idPath, keyFailures, nextLink, notModified, type Page, paged, pageQuery } from "./api.ts"
import { createRoute, revalidated } from "./create-route.ts"

const policy = policies.ownRecords

/** What each of these routes is made with. */
export const reading = {
  tags: ["records"],
  ...access(policy),
  middleware: [authenticated(policy)],
}

/** The responses of a route that reads records. */
export const readingAs = <S extends z.ZodType>(description: string, schema: S, ...codes: readonly ErrorCode[]) => ({
  200: json(description, schema),
  ...notModified,
  ...keyFailures(policy, "invalid-request", ...codes),
})

/** The route of the caller's records of one kind: `Builds`, say. */
export const listRoute = <Path extends string, S extends z.ZodType>(path: Path, kind: string, schema: S) =>
  createRoute(
    {
      method: "get",
      path,
      operationId: `list${kind}`,
      summary: `List ${kind.toLowerCase()}`,
      description: "Lists those that the caller can read, newest first.",
      ...reading,
      request: { query: pageQuery },
      responses: readingAs(kind, z.array(schema)),
    },
    revalidated,
    paged,
  )

/** The route of one of the caller's records. */
export const recordRoute = <Path extends string, S extends z.ZodType>(
  path: Path,
  kind: "Spec" | "Build" | "Deployment" | "Run",
  schema: S,
  texts: { readonly response: string; readonly description?: string },
) => {
  const name = kind.toLowerCase() as Lowercase<typeof kind>
  const { response, ...rest } = texts
  return createRoute(
    {
      method: "get",
      path: `${path}/{id}` as const,
      operationId: `get${kind}`,
      summary: `Get a ${name}`,
      ...rest,
      ...reading,
      request: { params: idPath },
      responses: readingAs(response, schema, `${name}-not-found`),
    },
    revalidated,
  )
}

/** A prepared statement. */
type Statement<Row> = (db: Orm) => { readonly execute: (values: Record<string, number>) => Promise<Row[]> }

/** Runs a statement for the caller, its `account`. */
const readRows = <Row>(c: Context<AppEnv>, statement: Statement<Row>, values: Record<string, number>): Promise<Row[]> =>
  c.get("queries").run((db) => statement(db).execute({ account: c.get("principal").userId, ...values }))

/** The rows of one record that the caller can read. Throws `missing` if there are none. */
export const readOne = async <Row>(
  c: Context<AppEnv>,
  statement: Statement<Row>,
  id: number,
  missing: ErrorCode,
): Promise<[Row, ...Row[]]> => {
  const [first, ...others] = await readRows(c, statement, { id })
  if (first === undefined) throw errors.fail(missing)
  return [first, ...others]
}

/** A page of rows, with a link to the next one. */
export const readPage = async <Row>(
  c: Context<AppEnv>,
  statement: Statement<Row>,
  page: Page,
  values: Record<string, number> = {},
): Promise<Row[]> => {
  // One more row than the limit means that there is another page.
  const rows = await readRows(c, statement, { ...values, limit: page.limit + 1, offset: page.offset })
  if (rows.length > page.limit) c.header("Link", nextLink(c, page))
  return rows.slice(0, page.limit)
}

/** A page of what belongs to a record. Throws `missing` if `seen` selects no record that the caller can read. */
export const readBelongings = async <Row>(
  c: Context<AppEnv>,
  statement: Statement<Row>,
  id: number,
  page: Page,
  seen: Statement<unknown>,
  missing: ErrorCode,
): Promise<Row[]> => {
  const rows = await readPage(c, statement, page, { id })
  if (rows.length === 0) await readOne(c, seen, id, missing)
  return rows
}
