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
import { answer, asked, foundBy, ofStack, readingAs, registryRead } from "./reader.ts"
import { diffAnswer, namePath, versionsAnswer } from "./schemas.ts"

const version = z
  .string()
  .regex(/^\d+$/, "must be a version's number")
  // A number that no version can have is simply not found.
  .transform((digits) => Math.min(Number(digits), 2_147_483_647))
  .optional()
  .meta({ type: "integer", minimum: 1, description: "A version's number. Default: the latest" })

export const versionQuery = z.object({ version })
export const diffQuery = z.object({ from: version, to: version })
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
  return principal === undefined ? readerOwner(addressBucket(c.get("clientAddress"))) : accountOwner(principal)
}

export const stackVersionRoutes = createRoutes()

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
stackVersionRoutes.openapi(listStackVersions, (c) =>
  answer(c, c.req.valid("param").name, (stack) => async () => {
    const page = c.req.valid("query")
    const rows = await c.get("dependencies").versions.list(stack, { ...page, limit: page.limit + 1 })
    const shown: z.infer<typeof versionsAnswer> = rows.slice(0, page.limit)
    const link = rows.length > page.limit && { link: nextLink(c, page) }
    return { answer: plainAnswer(JSON.stringify(shown)), headers: { ...link } }
  }),
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
stackVersionRoutes.openapi(diffStackVersions, (c) =>
  answer(c, c.req.valid("param").name, (stack) => {
    const { versions } = c.get("dependencies")
    const given = c.req.valid("query")
    const diff = (from: number, to: number) => foundBy(versions.diff(stack, from, to, ownerOf(c)), "version-not-found")
    if (given.from !== undefined && given.to !== undefined) return diff(given.from, given.to)
    return async () => {
      const { from, to } = await pairOf(given, () => versions.numbers(stack.line))
      const made = diff(from, to)
      return typeof made === "function" ? made() : made
    }
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
stackVersionRoutes.openapi(getStackTypes, (c) =>
  answer(c, c.req.valid("param").name, (stack) => {
    const { language, version: wanted = stack.version } = c.req.valid("query")
    const headers = { "content-type": mediaType(language) }
    return foundBy(
      c.get("dependencies").versions.module(stack, wanted, language, ownerOf(c)),
      "version-not-found",
      headers,
    )
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
