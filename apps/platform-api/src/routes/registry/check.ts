import { json, z } from "@svc/openapi"
import { authenticated, policies } from "../../auth/guard.ts"
import { accountOwner, diffOf } from "../../compiler/compiler.ts"
import { requestMs } from "../../db/database.ts"
import { ofVersion } from "../../records/spec-versions.ts"
import { ownDeployedVersion } from "../../work/records.ts"
import { access, astPayload, bodyCodes, createRoutes, jsonRequest, keyFailures, noStore } from "../api.ts"
import { createRoute } from "../create-route.ts"
import { largeBody, versionIn } from "../change.ts"
import { checkAnswer, namePath } from "./schemas.ts"

const body = z.strictObject({ ast_payload: astPayload }).meta({ required: ["ast_payload"] })

export const checkRoutes = createRoutes()

const policy = policies.ownRecords
const checkStack = createRoute({
  method: "post",
  path: "/api/registry/{name}/check",
  operationId: "checkStack",
  summary: "Check an AST before you publish it",
  description:
    "Derives the schema from the AST and compares it with the version of the stack that the caller can read, or with the one that the caller's stopped deployment had. It publishes and stores nothing.",
  tags: ["registry"],
  ...access(policy),
  middleware: [authenticated(policy), largeBody],
  request: { params: namePath, body: jsonRequest(body) },
  responses: {
    200: json("What publishing it would change", checkAnswer),
    ...keyFailures(policy, ...bodyCodes, "invalid-ast"),
  },
})
checkRoutes.openapi(checkStack, async (c) => {
  const { compiler, database, registry, versions } = c.get("dependencies")
  const prepared = versionIn(c.get("upload")?.ast)
  const principal = c.get("principal")
  const { name } = c.req.valid("param")
  const stack = registry.find(registry.audienceOf(principal.userId), name)
  const rested =
    stack === undefined
      ? await database.within(requestMs).run((db) => ownDeployedVersion(db, principal.userId, name))
      : undefined
  const about = { owner: accountOwner(principal), signal: c.req.raw.signal }
  const diff =
    stack === undefined
      ? rested && (await diffOf(compiler, ofVersion(rested), ofVersion(prepared), about))
      : await versions.compare(stack, ofVersion(prepared), about)
  const answer: z.infer<typeof checkAnswer> = {
    version: stack?.version ?? rested?.versionNumber ?? null,
    content_hash: prepared.contentHash,
    ...(diff === undefined ? { verdict: "none", bump: "none", changes: [] } : JSON.parse(diff.json)),
    schema: JSON.parse(prepared.schema),
  }
  return c.json(answer, 200, noStore)
})
