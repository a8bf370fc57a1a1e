import { addressBucket } from "@svc/http"
import { json, z } from "@svc/openapi"
import type { Context } from "hono"
import type { AppEnv } from "../../auth/guard.ts"
import { accountOwner, type Owner, readerOwner } from "../../compiler/compiler.ts"
import { errors } from "../../errors.ts"
import { plainAnswer } from "../../registry/answer.ts"
import { languages, mediaType } from "../../registry/types/typed-module.ts"
import { createRoutes, nextLink, paged, pageQuery } from "../api.ts"
import { createRoute } from "../create-route.ts"
import type { Body } from "../../registry/registry.ts"
import { answer, asked, count, ofStack, readingAs, registryRead, send } from "./reader.ts"
import { astAnswer, detail, diffAnswer, namePath, schemaAnswer, versionsAnswer } from "./schemas.ts"
import { changeRoutes } from "./changes.ts"

const versionOr = (usual: string) =>
  z
    .string()
    .regex(/^\d+$/, "must be a version's number")
    // A number that no version can have is simply not found.
    .transform((digits) => Math.min(Number(digits), 2_147_483_647))
    .optional()
    .meta({ type: "integer", minimum: 1, description: `A version's number. Default: ${usual}` })

const versionQuery = z.object({ version: versionOr("the latest") })
export const diffQuery = z.object({ from: versionOr("the version before `to`"), to: versionOr("the latest") })
const typesQuery = versionQuery.extend({ language: z.enum(languages).default("typescript") })

const modules = {
  description: "The module",
  content: Object.fromEntries(
    languages
      .map((language) => mediaType(language).split(";", 1).join(""))
      .map((type) => [type, { schema: type.endsWith("json") ? {} : { type: "string" as const } }]),
  ),
}

/** Throws version-not-found for undefined. */
export const existing = <T>(found: T | undefined): T => {
  if (found === undefined) throw errors.fail("version-not-found")
  return found
}

/** Whose work is what a caller asks for. */
const ownerOf = (c: Context<AppEnv>): Owner => {
  const { principal } = c.get("caller")
  // A page's visitors don't take the places of its account.
  return principal?.keyClass === "secret" ? accountOwner(principal) : readerOwner(addressBucket(c.get("clientAddress")))
}

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
registryRoutes.openapi(getStack, (c) => answer(c, c.req.valid("param").name, (stack) => ({ lookup: stack.answer })))

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
      const { version: wanted = stack.version } = c.req.valid("query")
      return wanted === stack.version
        ? { lookup: registry.body(c.get("caller").audience, stack, pick), missing: "stack-not-found" }
        : { lookup: versions[pick](stack, wanted) }
    }),
  )
}
content("/api/registry/{name}/schema", "getStackSchema", "Get a stack's schema", schemaAnswer, "schema", "name")
content("/api/registry/stacks/{stack}/ast", "getStackAst", "Get a stack's AST", astAnswer, "ast", "stack")

const listStackVersions = createRoute(
  {
    method: "get",
    path: "/api/registry/{name}/versions",
    operationId: "listStackVersions",
    summary: "List a stack's versions",
    description: "Lists versions newest first, each with its difference from the previous one.",
    ...registryRead,
    middleware: [asked(pageQuery)],
    request: { params: namePath, query: pageQuery },
    responses: readingAs(json("Versions", versionsAnswer), "stack-not-found", "invalid-request"),
  },
  ofStack,
  paged,
)
registryRoutes.openapi(listStackVersions, (c) =>
  answer(c, c.req.valid("param").name, (stack) => ({
    lookup: async () => {
      const page = c.req.valid("query")
      const rows = await c.get("dependencies").versions.list(stack, { ...page, limit: page.limit + 1 })
      if (rows.length > page.limit) c.header("Link", nextLink(c, page))
      return plainAnswer(JSON.stringify(rows.slice(0, page.limit) satisfies z.infer<typeof versionsAnswer>))
    },
  })),
)

const diffStackVersions = createRoute(
  {
    method: "get",
    path: "/api/registry/{name}/diff",
    operationId: "diffStackVersions",
    summary: "Compare two versions of a stack",
    description: "Lists the changes between two versions, by default the two latest.",
    ...registryRead,
    middleware: [asked(diffQuery)],
    request: { params: namePath, query: diffQuery },
    responses: readingAs(
      json("The difference", diffAnswer),
      "stack-not-found",
      "invalid-request",
      "invalid-ast",
      "version-not-found",
    ),
  },
  ofStack,
)
registryRoutes.openapi(diffStackVersions, (c) =>
  answer(c, c.req.valid("param").name, (stack) => {
    const { versions } = c.get("dependencies")
    const given = c.req.valid("query")
    const diff = (from: number, to: number) => versions.diff(stack, from, to, ownerOf(c))
    if (given.from !== undefined && given.to !== undefined) return { lookup: diff(given.from, given.to) }
    const lookup = async () => {
      const { from, to } = await pairOf(given, () => versions.numbers(stack.line))
      const made = diff(from, to)
      return typeof made === "function" ? made() : made
    }
    return { lookup }
  }),
)

const getStackTypes = createRoute(
  {
    method: "get",
    path: "/api/registry/{name}/types",
    operationId: "getStackTypes",
    summary: "Get a stack's types",
    description: "Returns a module that programs can import.",
    ...registryRead,
    middleware: [asked(typesQuery)],
    request: { params: namePath, query: typesQuery },
    responses: readingAs(modules, "stack-not-found", "invalid-request", "invalid-ast", "version-not-found"),
  },
  ofStack,
)
registryRoutes.openapi(getStackTypes, (c) =>
  answer(c, c.req.valid("param").name, (stack) => {
    const { language, version: wanted = stack.version } = c.req.valid("query")
    const lookup = c.get("dependencies").versions.module(stack, wanted, language, ownerOf(c))
    return { lookup, headers: { "content-type": mediaType(language) } }
  }),
)

/** The versions to compare. Defaults: the latest one, and the one before `to`. `numbers` returns them newest first. */
export const pairOf = async (
  { from, to }: z.infer<typeof diffQuery>,
  numbers: () => Promise<readonly number[]>,
): Promise<{ readonly from: number; readonly to: number }> => {
  if (from !== undefined && to !== undefined) return { from, to }
  const all = await numbers()
  const last = to ?? existing(all[0])
  return { from: from ?? all.find((number) => number < last) ?? last, to: last }
}
