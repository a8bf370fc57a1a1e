import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip, gzip, gzipSync } from "node:zlib"
import { LRUCache } from "lru-cache"

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Bytes in their own memory, which a response body requires. */
export type Bytes = Uint8Array<ArrayBuffer>

/** A body in two encodings. */
export type Answer = {
  readonly etags: { readonly identity: string; readonly gzip: string }
  readonly identity: () => Bytes | Promise<Bytes>
  readonly gzip: () => Bytes
}

/** What is in memory, or how to find it; undefined if there is none. */
export type Lookup = Answer | (() => Promise<Answer | undefined>)

/** A name for content, for ETags. */
export const tagOf = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("base64url").slice(0, 27)

const etagsOf = (tag: string): Answer["etags"] => ({ identity: `"${tag}"`, gzip: `"${tag}-gzip"` })

/** A short response, kept uncompressed and compressed on demand. */
export const plainAnswer = (text: string): Answer => {
  const identity = Uint8Array.from(Buffer.from(text))
  let packed: Bytes | undefined
  return { etags: etagsOf(tagOf(identity)), identity: () => identity, gzip: () => (packed ??= gzipSync(identity)) }
}

/** Makes responses that are kept compressed. The last ones used are also kept uncompressed. */
export const createPacker = (maxBytes: number) => {
  const unpacked = new LRUCache<string, Bytes, () => Promise<Bytes>>({
    maxSize: maxBytes,
    sizeCalculation: ({ length }) => length,
    fetchMethod: (_key, _stale, { context }) => context(),
    ignoreFetchAbort: true,
  })
  const packed = (bytes: Bytes): Answer => {
    const tag = tagOf(bytes)
    const unpack = () => unpacked.forceFetch(tag, { context: async () => Uint8Array.from(await decompress(bytes)) })
    return { etags: etagsOf(tag), identity: () => unpacked.get(tag) ?? unpack(), gzip: () => bytes }
  }
  return { packed, pack: async (identity: string | Uint8Array) => packed(Uint8Array.from(await compress(identity))) }
}

export type Packer = ReturnType<typeof createPacker>
