import { z } from "@svc/openapi"
import { policies } from "../../auth/agent-policy.ts"
import type { Dependencies } from "../../dependencies.ts"
import { ofVersion } from "../../records/spec-versions.ts"
import { astPayload } from "../body-fields.ts"
import { bodyCodes, type Serve } from "../endpoint.ts"
import { readLargeBody, versionIn } from "../large-body.ts"
import { checkAnswer } from "./schemas.ts"

const body = z.object({ ast_payload: astPayload })

export const checkRoutes = (serve: Serve, dependencies: Dependencies): void => {
  const { registry, versions } = dependencies
  serve({
    method: "post",
    path: "/api/registry/{name}/check",
    id: "checkStack",
    summary: "Check an AST before you publish it",
    description:
      "Derives the schema from the AST and compares it with the version of the stack that the caller can read. It publishes and stores nothing.",
    tag: "registry",
    access: policies.ownRecords,
    largeBody: body,
    success: [200, "What publishing it would change", checkAnswer],
    codes: [...bodyCodes, "invalid-ast"],
    handle: async (c) => {
      const { ast = { faults: [] } } = await readLargeBody(dependencies, c, body)
      const prepared = versionIn(ast)
      const { userId } = c.var.principal
      const stack = registry.find(registry.audienceOf(userId), c.req.param("name") ?? "")
      const diff = stack && (await versions.compare(stack, ofVersion(prepared), `user:${userId}`))
      const answer = {
        version: stack?.version ?? null,
        content_hash: prepared.contentHash,
        ...(diff === undefined ? { verdict: "none", bump: "none", changes: [] } : JSON.parse(diff.json)),
        schema: JSON.parse(prepared.schema),
      }
      return c.json(answer, 200, { "cache-control": "no-store" })
    },
  })
}
