import { gunzipSync, gzipSync } from "node:zlib"
import type { stacks } from "../db/schema/index.ts"
import type { Ast } from "./ast/ast-shape.ts"
import { compress, decompress } from "../gzip.ts"
import { contentHash } from "./ast/parse-ast.ts"
import { deriveSchema } from "./schema/derive-schema.ts"

/** What readers see of a stack besides its content. */
export type StackHead = Readonly<
  Pick<typeof stacks.$inferSelect, "name" | "description" | "websocketUrl" | "visibility">
>

/** Every byte that replicas serve, so that they generate none. */
export const makeStackBytes = ({ name, description, websocketUrl, visibility }: StackHead, ast: Ast, at: Date) => {
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
  const packed = (value: unknown) => Uint8Array.from(gzipSync(JSON.stringify(value), { level: 9 }))
  return {
    contentHash: content_hash,
    detail: JSON.stringify(detail),
    schema: JSON.stringify(schema),
    schemaGzip: packed({ ...head, schema }),
    astGzip: packed(answer),
  }
}

export type StackBytes = ReturnType<typeof makeStackBytes>

/** A stored AST response with the current visibility, which can change without a new version. */
export const astAnswerFor = async (bytes: Uint8Array, visibility: StackHead["visibility"]): Promise<Uint8Array> => {
  const answer = JSON.parse((await decompress(bytes)).toString()) as StackHead
  return answer.visibility === visibility ? bytes : compress(JSON.stringify({ ...answer, visibility }), { level: 9 })
}

/** A compressed AST, alone or in the response that readers get. */
export type StoredAst = { readonly gzip: Uint8Array; readonly isAnswer: boolean }

/** The stored AST. It was checked when it was uploaded. */
export const astIn = ({ gzip: bytes, isAnswer }: StoredAst): Ast => {
  const value: unknown = JSON.parse(gunzipSync(bytes).toString())
  return isAnswer ? (value as { ast_payload: Ast }).ast_payload : (value as Ast)
}

/** The size of the JSON before compression, which gzip stores at the end. */
export const sizeOf = ({ gzip: { buffer, byteOffset, length } }: StoredAst): number =>
  new DataView(buffer, byteOffset + length - 4, 4).getUint32(0, true)
