import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { jsonTypeFault, readBody, seemsEmpty } from "@svc/http"
import { BodyError } from "@svc/errors"
import type { Context, MiddlewareHandler } from "hono"
import type { AppEnv } from "../auth/guard.ts"
import { accountOwner } from "../compiler/queue.ts"
import type { PreparedVersion, ReadAst } from "../compiler/read-upload.ts"
import { errors } from "../errors.ts"
import { AstTooLarge } from "../registry/ast/document-fault.ts"

const unpack = promisify(gunzip)

export const largeBodyLimit = 2 * 1024 * 1024
const deadlineMs = 30_000

const invalidJson = (reason: string): BodyError => new BodyError({ kind: "invalid-json", reason })

const bytesOf = async (c: Context<AppEnv>): Promise<Uint8Array> => {
  const encoding = c.req.header("content-encoding")?.trim().toLowerCase() ?? "identity"
  const unsupported = (reason: string) => new BodyError({ kind: "unsupported-media-type", reason })
  if (encoding !== "identity" && encoding !== "gzip") throw unsupported("Content-Encoding must be gzip or absent")
  const fault = jsonTypeFault(c)
  if (fault !== undefined && !seemsEmpty(c)) throw unsupported(fault)
  let bytes = await readBody(c, { limit: largeBodyLimit, deadlineMs })
  if (bytes.length > 0 && fault !== undefined) throw unsupported(fault)
  if (encoding === "gzip" && bytes.length > 0) {
    try {
      bytes = await unpack(bytes, { maxOutputLength: largeBodyLimit })
    } catch (error) {
      const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      throw tooLarge ? new BodyError({ kind: "too-large", limit: largeBodyLimit }) : invalidJson("the body isn't gzip")
    }
  }
  return bytes
}

const inBody = (path: string): string => `ast_payload${path === "" || path.startsWith("[") ? path : `.${path}`}`

const tooLarge = ({ path, reason }: { readonly path: string; readonly reason: string }) =>
  errors.fail("invalid-ast", { details: { path: inBody(path), reason } })

/**
 * Reads a body that may hold an AST: up to 2 MiB of JSON after decompression. Throws BodyError. The other fields are for
 * `c.req.valid("json")`, the hash of the whole body and the AST are in `upload`.
 */
export const largeBody: MiddlewareHandler<AppEnv> = async (c, next) => {
  const bytes = await bytesOf(c)
  const about = { size: bytes.length, owner: accountOwner(c.get("principal")), signal: c.req.raw.signal }
  const read = await c
    .get("dependencies")
    .compiler.run("readUpload", bytes, about)
    .catch((error: unknown) => {
      throw error instanceof AstTooLarge ? tooLarge(error) : error
    })
  if ("invalidJson" in read) throw invalidJson(read.invalidJson)
  if ("invalid" in read) throw new BodyError({ kind: "invalid", path: "", reason: read.invalid })
  const { rest, hash, ast } = read
  c.set("upload", { hash, ast })
  // The validator reads the body from here. As text, bodyCache would round the integers that are bigints in it.
  Object.assign(c.req, { json: () => Promise.resolve(rest) })
  c.req.raw.headers.set("content-type", "application/json")
  await next()
}

/**
 * The version made from a body's AST. Throws invalid-request with its faults, if it has some or there is no AST, or
 * invalid-ast if it is too large.
 */
export const versionIn = (ast: ReadAst = { faults: [] }): PreparedVersion => {
  if ("version" in ast) return ast.version
  if ("tooLarge" in ast) throw tooLarge(ast.tooLarge)
  const faults = ast.faults.map(({ path, reason }) => ({ path: inBody(path), reason }))
  const [first = { path: "ast_payload", reason: "is missing" }] = faults
  throw errors.fail("invalid-request", { details: { ...first, faults } })
}
