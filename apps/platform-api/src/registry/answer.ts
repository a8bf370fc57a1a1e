import { createHash } from "node:crypto"
import { gunzipSync, gzipSync } from "node:zlib"
import { createMemo } from "@svc/common/memo"

/** Bytes in memory of their own, as an answer's body must be. */
export type Bytes = Uint8Array<ArrayBuffer>

/** A body ready to be sent in two encodings. */
export type Answer = {
  readonly etags: { readonly identity: string; readonly gzip: string }
  readonly identity: () => Bytes
  readonly gzip: () => Bytes
}

/** Names some content: what an ETag is made of. */
export const tagOf = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("base64url").slice(0, 27)

const etagsOf = (tag: string): Answer["etags"] => ({ identity: `"${tag}"`, gzip: `"${tag}-gzip"` })

/** An answer that is kept plain; it is compressed when first asked for that way. */
export const plainAnswer = (identity: Bytes, compressed?: Bytes): Answer => {
  let gzip: Bytes | undefined = compressed
  return { etags: etagsOf(tagOf(identity)), identity: () => identity, gzip: () => (gzip ??= gzipSync(identity)) }
}

/** Unpacks answers that are kept compressed, and holds on to the last ones unpacked. */
export type Unpacker = (gzip: Bytes) => Answer

export const createUnpacker = (maxBytes: number): Unpacker => {
  const unpacked = createMemo<Bytes>({ maxSize: maxBytes, sizeOf: ({ length }) => length })
  const unpack = (tag: string, gzip: Bytes): Bytes => unpacked.get(tag) ?? unpacked.set(tag, gunzipSync(gzip))

  return (gzip) => {
    const tag = tagOf(gzip)
    return { etags: etagsOf(tag), identity: () => unpack(tag, gzip), gzip: () => gzip }
  }
}
