import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib"

const decoders = {
  gzip: promisify(gunzip),
  zlib: promisify(inflate),
  raw: promisify(inflateRaw),
  br: promisify(brotliDecompress),
}

const longestChain = 4

// RFC 9110 defines deflate as zlib's format, but some servers send the raw one. RFC 1950: two bytes that 31 divides.
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0

const decoderOf = (encoding: string, body: Uint8Array) => {
  if (encoding === "gzip" || encoding === "x-gzip") return decoders.gzip
  if (encoding === "deflate") return isZlib(body) ? decoders.zlib : decoders.raw
  return encoding === "br" ? decoders.br : undefined
}

/** The encodings that a Content-Encoding header names, in the order in which they were applied. */
export const encodingsOf = (header: string | readonly string[] | undefined): readonly string[] =>
  [header ?? []]
    .flat()
    .flatMap((value) => value.toLowerCase().split(","))
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== "" && encoding !== "identity")

/**
 * Undoes the encodings of a body, the last one first. zlib stops as soon as a result is over `maxBytes`. Rejects with an
 * Error whose message is for the log.
 */
export const unpack = async (
  packed: Uint8Array,
  encodings: readonly string[],
  maxBytes: number,
): Promise<Uint8Array> => {
  if (encodings.length > longestChain) throw new Error(`the body has ${encodings.length} content encodings`)
  let body = packed
  for (const encoding of encodings.toReversed()) {
    const decode = decoderOf(encoding, body)
    if (decode === undefined)
      throw new Error(`the body has the content encoding ${JSON.stringify(encoding.slice(0, 40))}`)
    try {
      body = await decode(body, { maxOutputLength: maxBytes })
    } catch (error) {
      const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      throw new Error(isTooLarge ? `the unpacked body is over ${maxBytes} bytes` : `the body isn't valid ${encoding}`, {
        cause: error,
      })
    }
  }
  return body
}
