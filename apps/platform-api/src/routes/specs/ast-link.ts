import { json, z } from "@svc/openapi"
import { orm, requestMs } from "../../db/database.ts"
import { specVersions } from "../../db/schema/index.ts"
import { errors } from "../../errors.ts"
import { decompress } from "../../gzip.ts"
import { access, createRoutes, checkId, failures, idPath, type Sent } from "../api.ts"
import { createRoute } from "../create-route.ts"

const query = z.object({
  until: z.string().optional().meta({ description: "When the link expires, from the link" }),
  signature: z.string().optional().meta({ description: "The signature, from the link" }),
})

const getAstByLink = createRoute({
  method: "get",
  path: "/api/asts/{id}",
  operationId: "getAstByLink",
  summary: "Get an AST by its link",
  description:
    "For the receiver of the deploy hook. The link in its message is the credential. It is valid for an hour.",
  tags: ["registry"],
  ...access("signed link"),
  middleware: [checkId("version-not-found", "version-not-found")],
  request: { params: idPath, query },
  responses: { 200: json("The AST", z.looseObject({})), ...failures("version-not-found", "service-unavailable") },
})

export const astLinkRoutes = createRoutes()

astLinkRoutes.openapi(getAstByLink, async (c) => {
  const { astLinks, database, wallClock } = c.get("dependencies")
  const { id } = c.req.valid("param")
  const { until = "", signature = "" } = c.req.valid("query")
  if (astLinks?.isGood(id, Number(until), signature, wallClock()) !== true) {
    throw errors.fail("version-not-found")
  }
  const [row] = await database
    .within(requestMs)
    .run((db) => db.select({ astGzip: specVersions.astGzip }).from(specVersions).where(orm.eq(specVersions.id, id)))
  if (row === undefined) throw errors.fail("version-not-found")
  const headers = { "content-type": "application/json", "cache-control": "private, no-store" }
  const ast = Uint8Array.from(await decompress(row.astGzip))
  return c.body(ast, 200, headers) as Response as Sent<Record<string, unknown>, 200>
})
