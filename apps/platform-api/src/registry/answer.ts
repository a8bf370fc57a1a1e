import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { LRUCache } from "lru-cache"
import { compress, decompress } from "../gzip.ts"

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

/** What was found under a key. Without a response there is none, which is remembered too. */
type Found = { readonly answer?: Answer | undefined }

const entryBytes = 1024

/** The most recently used values, up to this size, and how to find the others. Concurrent calls for one key share a search. */
const recentlyUsed = <T extends object>(maxSize: number, sizeCalculation: (value: T) => number) => {
  const values = new LRUCache<string, T, () => Promise<T>>({
    maxSize,
    sizeCalculation,
    fetchMethod: (_key, _stale, { context: find }) => find(),
    ignoreFetchAbort: true,
  })
  return {
    get: (key: string) => values.get(key),
    fetch: (key: string, find: () => Promise<T>) => values.forceFetch(key, { context: find }),
  }
}

/**
 * Remembers the most recently used responses, compressed, and some of them uncompressed.
 * @param maxBytes of the compressed ones; the uncompressed ones take half as much
 */
export const createAnswerMemo = <T extends Found>(maxBytes: number) => {
  const memo = recentlyUsed<T>(maxBytes, ({ answer }) => entryBytes + (answer?.gzip().length ?? 0))
  const unpacked = recentlyUsed<Bytes>(maxBytes / 2, ({ length }) => length)
  /** A response whose body is stored compressed. */
  const packed = (stored: Uint8Array): Answer => {
    const bytes = Uint8Array.from(stored)
    const tag = tagOf(bytes)
    const unpack = () => unpacked.fetch(tag, async () => Uint8Array.from(await decompress(bytes)))
    return { etags: etagsOf(tag), identity: () => unpacked.get(tag) ?? unpack(), gzip: () => bytes }
  }
  return { ...memo, packed, pack: async (text: string) => packed(await compress(text)) }
}
