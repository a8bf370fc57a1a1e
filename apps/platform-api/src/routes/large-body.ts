import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { writeExactly } from "@svc/common/exact-json"
import { hasMoreValues } from "@svc/common/json-text"
import { BodyError, readBody, requestHeader, validate } from "@svc/http"
import type { z } from "@svc/openapi"
import type { Context } from "hono"
import type { AppEnv } from "../auth/guard.ts"
import { errors } from "../errors.ts"
import { prepareVersion, type PreparedVersion } from "../records/spec-versions.ts"
import type { Ast } from "../registry/ast-shape.ts"
import { AstTooLarge, DocumentFault } from "../registry/document-fault.ts"
import { mostValues } from "../registry/json-value.ts"
import { astFaults } from "../registry/parse-ast.ts"
import { parseExactJson } from "../registry/read-ast.ts"

const unpack = promisify(gunzip)

const limit = 2 * 1024 * 1024
const deadlineMs = 30_000
// Far more than any endpoint takes beside an AST. A validator reports each element that is not what it should be.
const bodyValues = 1000
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const invalidJson = (reason: string): BodyError => new BodyError({ kind: "invalid-json", reason })

const tooManyValues = (most: number): BodyError =>
  new BodyError({ kind: "invalid", path: "", reason: `must have at most ${most} members and elements` })

const textOf = async (c: Context<AppEnv>): Promise<string> => {
  const type = requestHeader(c, "content-type")
  const encoding = requestHeader(c, "content-encoding")?.trim().toLowerCase() ?? "identity"
  if (encoding !== "identity" && encoding !== "gzip") {
    throw new BodyError({ kind: "unsupported-media-type", reason: "the body may be plain or gzip (Content-Encoding)" })
  }
  if (type !== undefined && !/^\s*application\/json\s*(;\s*charset="?utf-?8"?\s*)?$/i.test(type)) {
    throw new BodyError({
      kind: "unsupported-media-type",
      reason: "the body must be JSON with Content-Type: application/json",
    })
  }
  let bytes = await readBody(c, { limit, deadlineMs })
  if (bytes.length > 0 && type === undefined) {
    throw new BodyError({
      kind: "unsupported-media-type",
      reason: "the body must be JSON with Content-Type: application/json",
    })
  }
  if (encoding === "gzip" && bytes.length > 0) {
    try {
      bytes = await unpack(bytes, { maxOutputLength: limit })
    } catch (error) {
      const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      throw tooLarge ? new BodyError({ kind: "too-large", limit }) : invalidJson("the body is not gzip")
    }
  }
  try {
    return bytes.length === 0 ? "{}" : utf8.decode(bytes)
  } catch {
    throw invalidJson("the body is not UTF-8")
  }
}

/** Reads and checks a body that may carry an AST: 2 MiB of JSON, counted after unpacking. Throws BodyError. */
export const readLargeBody = async <T>(
  c: Context<AppEnv>,
  schema: z.ZodType<T>,
): Promise<{ readonly given: T; readonly text: string }> => {
  const text = await textOf(c)
  if (hasMoreValues(text, mostValues)) throw tooManyValues(mostValues)
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error
    throw invalidJson(error.reason.startsWith("is not JSON") ? "the body is not JSON" : `the body ${error.reason}`)
  }
  if (
    typeof value === "object" &&
    value !== null &&
    hasMoreValues(writeExactly({ ...value, ast_payload: 0 }), bodyValues)
  ) {
    throw tooManyValues(bodyValues)
  }
  return { given: validate(schema, value), text }
}

const inBody = (path: string): string => `ast_payload${path === "" || path.startsWith("[") ? path : `.${path}`}`

/** The AST of a body, whole and right. Throws invalid-request with the first faults. */
const checkedAst = (value: unknown): Ast => {
  const found = astFaults(value)
  const tooLarge = found.find((fault) => fault instanceof AstTooLarge)
  if (tooLarge !== undefined) throw tooLarge
  const faults = found.map(({ path, reason }) => ({ path: inBody(path), reason }))
  const [first] = faults
  if (first === undefined) return value as Ast
  throw errors.fail("invalid-request", { details: { ...first, faults } })
}

/** The version that a body's AST makes. Throws invalid-request, and invalid-ast for an AST that is too large. */
export const versionIn = async (value: unknown): Promise<PreparedVersion> => {
  try {
    return await prepareVersion(checkedAst(value))
  } catch (error) {
    if (!(error instanceof AstTooLarge)) throw error
    throw errors.fail("invalid-ast", { details: { path: inBody(error.path), reason: error.reason } })
  }
}
