import { promisify } from "node:util"
import { gunzip, gunzipSync, gzip } from "node:zlib"
import type { Ast } from "./ast-shape.ts"
import { contentHash } from "./content-hash.ts"
import { deriveSchema, deriveShape, type Shape } from "./derive-schema.ts"

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** What readers are told of a stack besides its content. */
export type StackHead = {
  readonly name: string
  readonly description: string | null
  readonly websocketUrl: string
  readonly visibility: "public" | "global" | "private"
}

/** All the bytes that replicas will serve, so that they need not make any. */
export const makeStackBytes = async (
  { name, description, websocketUrl, visibility }: StackHead,
  ast: Ast,
  at: Date,
) => {
  const content_hash = contentHash(ast)
  const schema = deriveSchema(ast)
  const head = { name, description, websocket_url: websocketUrl }
  const entities = schema.entities.map((entity) => entity.name)
  const detail = { ...head, entities, visibility, content_hash, updated_at: at.toISOString() }
  const answer = {
    name,
    stack: ast.stack_name,
    description,
    websocket_url: websocketUrl,
    visibility,
    content_hash,
    ast_payload: ast,
  }
  const [schemaGzip, astGzip] = await Promise.all(
    [{ ...head, schema }, answer].map((value) => compress(JSON.stringify(value), { level: 9 })),
  )
  if (schemaGzip === undefined || astGzip === undefined) throw new Error("nothing was compressed")
  return {
    contentHash: content_hash,
    detail: JSON.stringify(detail),
    schema: JSON.stringify(schema),
    schemaGzip,
    astGzip,
  }
}

export type StackBytes = Awaited<ReturnType<typeof makeStackBytes>>

/** A stored AST answer, saying who sees the stack now: that changes without a new version. */
export const astAnswerFor = async (
  bytes: Uint8Array,
  visibility: StackHead["visibility"],
): Promise<Uint8Array<ArrayBuffer>> => {
  const answer = JSON.parse((await decompress(bytes)).toString()) as Pick<StackHead, "visibility">
  return answer.visibility === visibility
    ? Uint8Array.from(bytes)
    : compress(JSON.stringify({ ...answer, visibility }), { level: 9 })
}

/** The AST in a stored answer. It was checked when it was published. */
export const astInAnswer = (bytes: Uint8Array): Ast =>
  (JSON.parse(gunzipSync(bytes).toString()) as { ast_payload: Ast }).ast_payload

/** The shape in a stored AST answer. */
export const shapeInAnswer = (bytes: Uint8Array): Shape => deriveShape(astInAnswer(bytes))
