import { z, validate } from "@svc/openapi"
import type { Context } from "hono"
import type { AppEnv } from "../../auth/guard.ts"
import type { Body } from "../../registry/published-stack.ts"
import type { Dependencies } from "../../dependencies.ts"
import type { Serve } from "../endpoint.ts"
import type { EventStreams } from "../event-streams.ts"
import { nextLink, pageQuery } from "../paging.ts"
import { changeRoutes } from "./changes.ts"
import { checkRoutes } from "./check.ts"
import { type Caller, createRegistryReader, foundBy } from "./reader.ts"
import { astAnswer, detail, schemaAnswer } from "./schemas.ts"
import { stackVersionRoutes, versionQuery } from "./versions.ts"

const listQuery = pageQuery.extend({
  include: z.enum(["schema"], "can only be schema").optional().meta({ description: "Adds each stack's schema" }),
  q: z.string().max(200).default("").meta({ description: "Text in the name or the description" }),
})

const codes = ["stack-not-found", "rate-limit-exceeded", "service-unavailable"] as const

export const registryRoutes = (serve: Serve, dependencies: Dependencies, streams: EventStreams): void => {
  const { registry } = dependencies
  const reader = createRegistryReader(dependencies)
  const { callerOf, tell, count, send, answer } = reader

  /** The list's query. Invalid queries count too. */
  const validateQuery = async (c: Context<AppEnv>, caller: Caller) => {
    try {
      return validate(listQuery, c.req.query())
    } catch (error) {
      await count(c, caller)
      throw error
    }
  }

  const common = { method: "get", tag: "registry", access: "optional key" } as const
  const notModified = { 304: ["Nothing changed since the ETag in If-None-Match"] } as const

  serve({
    ...common,
    path: "/api/registry",
    id: "listStacks",
    summary: "List stacks",
    description: "Lists the published stacks by name.",
    query: listQuery,
    success: [200, "Stacks", z.array(detail)],
    others: notModified,
    codes: ["invalid-request", "rate-limit-exceeded", "service-unavailable"],
    handle: async (c) => {
      const caller = await callerOf(c)
      tell(c, caller)
      const { include, ...query } = await validateQuery(c, caller)
      const list = { ...query, audience: caller.audience, withSchema: include !== undefined }
      // The list is built before we know whether the client already has it, so the request counts either way.
      const known = registry.hasList(list)
      if (!known) await count(c, caller)
      const { answer: made, shown, more } = await registry.list(list)
      return send(
        c,
        caller,
        { answer: made, ...(more ? { headers: { link: nextLink(c, query, shown) } } : {}) },
        !known,
      )
    },
  })

  // Before the stacks: `changes` isn't the name of a stack.
  changeRoutes(serve, dependencies, reader, streams)

  serve({
    ...common,
    path: "/api/registry/{name}",
    id: "getStack",
    summary: "Get a stack",
    success: [200, "Get a stack", detail],
    others: notModified,
    codes,
    handle: answer(
      "name",
      () => undefined,
      (stack) => ({ answer: stack.answer }),
    ),
  })

  const { versions } = dependencies
  const content = (
    path: string,
    id: string,
    summary: string,
    schema: z.ZodType,
    pick: Body,
    parameter: "name" | "stack",
  ) =>
    serve({
      ...common,
      path,
      id,
      summary,
      query: versionQuery,
      success: [200, summary, schema],
      others: notModified,
      codes: [...codes, "invalid-request", "version-not-found"],
      handle: answer(
        parameter,
        (c) => (c.req.query("version") === undefined ? undefined : validate(versionQuery, c.req.query()).version),
        (stack, version = stack.version, { audience }) =>
          version === stack.version
            ? foundBy(registry.body(audience, stack, pick), "stack-not-found")
            : foundBy(versions[pick](stack, version), "version-not-found"),
      ),
    })
  content("/api/registry/{name}/schema", "getStackSchema", "Get a stack's schema", schemaAnswer, "schema", "name")
  content("/api/registry/stacks/{stack}/ast", "getStackAst", "Get a stack's AST", astAnswer, "ast", "stack")
  checkRoutes(serve, dependencies)
  stackVersionRoutes(serve, dependencies, reader)
}
