import { json, z } from "@svc/openapi"
import type { Body } from "../../registry/published-stack.ts"
import { createRoutes, nextLink, paged, pageQuery } from "../api.ts"
import { createRoute } from "../create-route.ts"
import { changeRoutes } from "./changes.ts"
import { answer, asked, count, foundBy, ofStack, readingAs, registryRead, send } from "./reader.ts"
import { astAnswer, detail, namePath, schemaAnswer } from "./schemas.ts"
import { versionQuery } from "./versions.ts"

const listQuery = pageQuery.extend({
  include: z.enum(["schema"], "can only be schema").optional().meta({ description: "Adds each stack's schema" }),
  q: z.string().max(200).default("").meta({ description: "Text in the name or the description" }),
})

export const registryRoutes = createRoutes()

const listStacks = createRoute(
  {
    method: "get",
    path: "/api/registry",
    operationId: "listStacks",
    summary: "List stacks",
    description: "Lists the published stacks by name.",
    ...registryRead,
    middleware: [asked(listQuery)],
    request: { query: listQuery },
    responses: readingAs(json("Stacks", z.array(detail)), "invalid-request"),
  },
  paged,
)
registryRoutes.openapi(listStacks, async (c) => {
  const { registry } = c.get("dependencies")
  const { include, ...query } = c.req.valid("query")
  const list = { ...query, audience: c.get("caller").audience, withSchema: include !== undefined }
  // The list is built before we know whether the client already has it, so the request counts either way.
  const known = registry.hasList(list)
  if (!known) await count(c)
  const { answer: made, shown, more } = await registry.list(list)
  return send(c, { answer: made, ...(more && { headers: { link: nextLink(c, query, shown) } }) }, !known)
})

// Before the stacks: `changes` isn't the name of a stack.
registryRoutes.route("/", changeRoutes)

const getStack = createRoute(
  {
    method: "get",
    path: "/api/registry/{name}",
    operationId: "getStack",
    summary: "Get a stack",
    ...registryRead,
    middleware: [asked()],
    request: { params: namePath },
    responses: readingAs(json("Get a stack", detail), "stack-not-found"),
  },
  ofStack,
)
registryRoutes.openapi(getStack, (c) => answer(c, c.req.valid("param").name, (stack) => ({ answer: stack.answer })))

const content = (
  path: string,
  operationId: string,
  summary: string,
  schema: z.ZodType,
  pick: Body,
  parameter: "name" | "stack",
) => {
  const route = createRoute(
    {
      method: "get",
      path,
      operationId,
      summary,
      ...registryRead,
      middleware: [asked(versionQuery)],
      request: { params: z.object({ [parameter]: namePath.shape.name }), query: versionQuery },
      responses: readingAs(json(summary, schema), "stack-not-found", "invalid-request", "version-not-found"),
    },
    ofStack,
  )
  registryRoutes.openapi(route, (c) =>
    answer(c, c.req.param(parameter) ?? "", (stack) => {
      const { registry, versions } = c.get("dependencies")
      const { version = stack.version } = c.req.valid("query")
      return version === stack.version
        ? foundBy(registry.body(c.get("caller").audience, stack, pick), "stack-not-found")
        : foundBy(versions[pick](stack, version), "version-not-found")
    }),
  )
}
content("/api/registry/{name}/schema", "getStackSchema", "Get a stack's schema", schemaAnswer, "schema", "name")
content("/api/registry/stacks/{stack}/ast", "getStackAst", "Get a stack's AST", astAnswer, "ast", "stack")
