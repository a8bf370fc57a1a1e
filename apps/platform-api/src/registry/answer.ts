import { createHash } from "node:crypto"
import { gunzipSync, gzipSync } from "node:zlib"

/** A body ready to be sent in two encodings. */
export type Answer = {
  /** Names the content; each encoding's ETag is made from it. */
  readonly tag: string
  readonly identity: () => Buffer
  readonly gzip: () => Buffer
}

const tagOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("base64url").slice(0, 27)

/** An answer that is kept plain; it is compressed when first asked for that way. */
export const plainAnswer = (identity: Buffer, compressed?: Buffer): Answer => {
  let gzip = compressed
  return { tag: tagOf(identity), identity: () => identity, gzip: () => (gzip ??= gzipSync(identity)) }
}

/** Unpacks answers that are kept compressed, and holds on to the last ones unpacked. */
export type Unpacker = (gzip: Buffer) => Answer

export const createUnpacker = (maxBytes: number): Unpacker => {
  const unpacked = new Map<string, Buffer>()
  let total = 0

  const unpack = (tag: string, gzip: Buffer): Buffer => {
    const known = unpacked.get(tag)
    if (known !== undefined) return known
    const bytes = gunzipSync(gzip)
    unpacked.set(tag, bytes)
    total += bytes.length
    for (const [oldest, old] of unpacked) {
      if (total <= maxBytes || oldest === tag) break
      unpacked.delete(oldest)
      total -= old.length
    }
    return bytes
  }

  return (gzip) => {
    const tag = tagOf(gzip)
    return { tag, identity: () => unpack(tag, gzip), gzip: () => gzip }
  }
}
