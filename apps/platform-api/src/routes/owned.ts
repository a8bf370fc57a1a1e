// What routes that read the caller's records share.
import { createRoute, z } from "@svc/openapi"
import type { Context } from "hono"
import { policies } from "../auth/agent-policy.ts"
import { type AppEnv, authenticated } from "../auth/guard.ts"
import type { Dependencies } from "../dependencies.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { access, type Api, idPath, json, keyFailures, notModified, preparedNotModified, type Sent } from "./api.ts"
import { sendOwn } from "./conditional.ts"
import { nextLink, type Page, pageQuery } from "./paging.ts"
import type { Row } from "./record.ts"

const policy = policies.ownRecords

/** What each of these routes is made with. */
export const reading = (dependencies: Dependencies) => ({
  tags: ["records"],
  ...access(policy),
  middleware: [authenticated(dependencies, policy)],
})

/** The responses of a route that reads records. */
export const readingAs = <S extends z.ZodType, Code extends ErrorCode = never>(
  description: string,
  schema: S,
  ...codes: readonly Code[]
) => ({
  200: json(description, schema),
  ...notModified,
  ...keyFailures<Code | "invalid-request">(policy, "invalid-request", ...codes),
})

/** Sends a page of rows. One more row than the limit means that there is another page. */
const sendPage = <T>(
  c: Context<AppEnv>,
  page: Page,
  rows: readonly Row[],
  present: (row: Row) => T,
): Sent<T[], 200> => {
  if (rows.length > page.limit) c.header("Link", nextLink(c, page))
  return sendOwn(c, rows.slice(0, page.limit).map(present))
}

/** Serves the list of the caller's records of one kind: `Builds`, say. `sql` takes account, limit and offset. */
export const serveList = <S extends z.ZodType>(
  api: Api,
  dependencies: Dependencies,
  path: string,
  kind: string,
  schema: S,
  sql: string,
  present: (row: Row) => z.output<S>,
): void => {
  const route = createRoute({
    method: "get",
    path,
    operationId: `list${kind}`,
    summary: `List ${kind.toLowerCase()}`,
    description: "Lists those that the caller can read, newest first.",
    ...reading(dependencies),
    request: { query: pageQuery },
    responses: { ...readingAs(kind, z.array(schema)), ...preparedNotModified },
  })
  api.openapi(route, async (c) => {
    const page = c.req.valid("query")
    const rows = await c.get("queries").query<Row>(sql, [c.get("principal").userId, page.limit + 1, page.offset])
    return sendPage(c, page, rows, present)
  })
}

/** A page of what belongs to the record in the path. `sql` takes account, id, limit and offset. It returns one row without
 * an id if the page is empty, and no row if the record is missing: then throws `missing`.
 */
export const sendBelongings = async <T>(
  c: Context<AppEnv>,
  sql: string,
  id: number,
  page: Page,
  missing: ErrorCode,
  present: (row: Row) => T,
): Promise<Sent<T[], 200>> => {
  const rows = await c.get("queries").query<Row>(sql, [c.get("principal").userId, id, page.limit + 1, page.offset])
  if (rows.length === 0) throw errors.fail(missing)
  const found = rows.filter((row) => row["id"] !== null)
  return sendPage(c, page, found, present)
}

/** Serves one of the caller's records of a kind: `Build`, say. `sql` takes account and id. */
export const serveOne = <S extends z.ZodType>(
  api: Api,
  dependencies: Dependencies,
  path: string,
  kind: "Spec" | "Build" | "Deployment" | "Run",
  schema: S,
  texts: { readonly response: string; readonly operation?: string },
  sql: string,
  present: (rows: readonly [Row, ...Row[]]) => z.output<S>,
): void => {
  const name = kind.toLowerCase() as Lowercase<typeof kind>
  const route = createRoute({
    method: "get",
    path: `${path}/{id}`,
    operationId: `get${kind}`,
    summary: `Get a ${name}`,
    ...(texts.operation !== undefined && { description: texts.operation }),
    ...reading(dependencies),
    request: { params: idPath },
    responses: { ...readingAs(texts.response, schema, `${name}-not-found`), ...preparedNotModified },
  })
  api.openapi(route, async (c) => {
    const { id } = c.req.valid("param")
    return sendOwn(c, present(await readOne(c, sql, id, `${name}-not-found`)))
  })
}

/** The rows of one record that the caller can read. `sql` takes account and id. Throws `missing` if there are none. */
export const readOne = async (
  c: Context<AppEnv>,
  sql: string,
  id: number,
  missing: ErrorCode,
): Promise<[Row, ...Row[]]> => {
  const [first, ...others] = await c.get("queries").query<Row>(sql, [c.get("principal").userId, id])
  if (first === undefined) throw errors.fail(missing)
  return [first, ...others]
}
