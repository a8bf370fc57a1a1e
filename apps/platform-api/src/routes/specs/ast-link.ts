import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { z } from "@svc/openapi"
import { requestMs } from "../../auth/guard.ts"
import { orm } from "../../db/drizzle.ts"
import { specVersions } from "../../db/schema/index.ts"
import { errors } from "../../errors.ts"
import type { Dependencies } from "../../dependencies.ts"
import { idOf, type Serve } from "../endpoint.ts"

const unpack = promisify(gunzip)

const query = z.object({
  until: z.string().optional().meta({ description: "When the link expires, from the link" }),
  signature: z.string().optional().meta({ description: "The signature, from the link" }),
})

export const astLinkRoutes = (serve: Serve, dependencies: Dependencies): void =>
  serve({
    method: "get",
    path: "/api/asts/{id}",
    id: "getAstByLink",
    summary: "Get an AST by its link",
    description:
      "For the receiver of the deploy hook. The link in its message is the credential. It is valid for an hour.",
    tag: "registry",
    access: "signed link",
    query,
    success: [200, "The AST", z.looseObject({})],
    codes: ["version-not-found", "service-unavailable"],
    handle: async (c) => {
      const id = idOf(c, "version-not-found")
      const until = Number(c.req.query("until") ?? "")
      const signature = c.req.query("signature") ?? ""
      if (id === undefined || dependencies.astLinks?.isGood(id, until, signature, dependencies.wallClock()) !== true) {
        throw errors.fail("version-not-found")
      }
      const [row] = await dependencies.database
        .within(requestMs)
        .run((db) => db.select({ astGzip: specVersions.astGzip }).from(specVersions).where(orm.eq(specVersions.id, id)))
      if (row === undefined) throw errors.fail("version-not-found")
      const headers = { "content-type": "application/json", "cache-control": "private, no-store" }
      return new Response(await unpack(row.astGzip), { headers })
    },
  })
