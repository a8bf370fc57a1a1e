import { z, validate } from "@svc/openapi"
import { errors } from "../../errors.ts"
import { plainAnswer } from "../../registry/answer.ts"
import { languages, mediaType } from "../../registry/types/typed-module.ts"
import type { Dependencies } from "../../dependencies.ts"
import type { Serve } from "../endpoint.ts"
import { nextLink, pageOf, pageQuery } from "../paging.ts"
import { foundBy, type RegistryReader } from "./reader.ts"
import { diffAnswer, versionsAnswer } from "./schemas.ts"

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

/** Throws version-not-found for undefined. */
export const existing = <T>(found: T | undefined): T => {
  if (found === undefined) throw errors.fail("version-not-found")
  return found
}

export const stackVersionRoutes = (serve: Serve, dependencies: Dependencies, reader: RegistryReader): void => {
  const { versions } = dependencies
  const common = {
    method: "get",
    tag: "registry",
    access: "optional key",
    others: { 304: ["Nothing changed since the ETag in If-None-Match"] },
  } as const
  const codes = ["stack-not-found", "rate-limit-exceeded", "service-unavailable"] as const

  serve({
    ...common,
    path: "/api/registry/{name}/versions",
    id: "listStackVersions",
    summary: "List a stack's versions",
    description: "Lists versions newest first, each with its difference from the previous one.",
    query: pageQuery,
    success: [200, "Versions", versionsAnswer],
    codes: [...codes, "invalid-request"],
    handle: (c) =>
      reader.answer("name", pageOf, (stack, page) => async () => {
        const rows = await versions.list(stack.line, { ...page, limit: page.limit + 1 })
        const shown = rows.slice(0, page.limit)
        const answer = plainAnswer(JSON.stringify(shown.map((row) => versions.present(row, stack.version))))
        return rows.length > shown.length ? { answer, headers: { link: nextLink(c, page) } } : { answer }
      })(c),
  })

  serve({
    ...common,
    path: "/api/registry/{name}/diff",
    id: "diffStackVersions",
    summary: "Compare two versions of a stack",
    description: "Lists the changes between two versions, by default the two latest.",
    query: diffQuery,
    success: [200, "The difference", diffAnswer],
    codes: [...codes, "invalid-request", "invalid-ast", "version-not-found"],
    handle: reader.answer(
      "name",
      (c) => validate(diffQuery, c.req.query()),
      (stack, given) => {
        const diff = (from: number, to: number) => foundBy(versions.diff(stack, from, to), "version-not-found")
        if (given.from !== undefined && given.to !== undefined) return diff(given.from, given.to)
        return async () => {
          const { from, to } = await pairOf(given, () => versions.numbers(stack.line))
          const made = diff(from, to)
          return typeof made === "function" ? made() : made
        }
      },
    ),
  })

  serve({
    ...common,
    path: "/api/registry/{name}/types",
    id: "getStackTypes",
    summary: "Get a stack's types",
    description: "Returns a module that programs can import.",
    query: typesQuery,
    codes: [...codes, "invalid-request", "invalid-ast", "version-not-found"],
    text: ["The module", languages.map((language) => mediaType(language).split(";", 1).join(""))],
    handle: reader.answer(
      "name",
      (c) => validate(typesQuery, c.req.query()),
      (stack, { language, version: wanted = stack.version }) => {
        const headers = { "content-type": mediaType(language) }
        return foundBy(versions.module(stack, wanted, language), "version-not-found", headers)
      },
    ),
  })
}

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
