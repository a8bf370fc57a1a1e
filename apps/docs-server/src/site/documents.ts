import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { hashOf } from "../corpus/corpus.ts"
import { headers as described } from "../routes/describe-route.ts"

/** On every answer: these documents are for any page and any agent to read. */
export const commonHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": ["Mcp-Session-Id", ...Object.keys(described)].join(", "),
  "X-Content-Type-Options": "nosniff",
} as const

export const preflightHeaders = {
  ...commonHeaders,
  "Access-Control-Allow-Methods": "GET, HEAD, POST, OPTIONS",
  "Access-Control-Allow-Headers":
    "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, If-None-Match",
  "Access-Control-Max-Age": "86400",
} as const

export const jsonType = "application/json; charset=utf-8"
export const markdownType = "text/markdown; charset=utf-8"

export type Encoding = "br" | "gzip"

export type Document = ReturnType<typeof createDocument>

type Encoded = { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array<ArrayBuffer> }

const compressGzip = promisify(gzip)
const compressBrotli = promisify(brotliCompress)
// Higher ones cost ten times as much and save a few percent.
const brotliQuality = 6
const compressors = {
  br: (text: string) => compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (text: string) => compressGzip(text),
}
const encoder = new TextEncoder()

export const documentHeaders = (type: string, etag: string, more: Readonly<Record<string, string>> = {}) => ({
  ...commonHeaders,
  "Content-Type": type,
  "Cache-Control": "public, max-age=300",
  Vary: "Accept, Accept-Encoding",
  ...more,
  ETag: etag,
})

/**
 * Text with all that a GET of it needs, made once.
 * @param encodings those it can be had in, the best first
 */
export const createDocument = (
  type: string,
  text: string,
  more?: Readonly<Record<string, string>>,
  encodings: readonly Encoding[] = ["gzip"],
) => {
  const hash = hashOf(text)
  const headers = documentHeaders(type, `"${hash}"`, more)
  const made = new Map<Encoding, Promise<Encoded>>()
  const encode = async (encoding: Encoding): Promise<Encoded> => ({
    // The same text in another encoding is not the same bytes: its tag is weak.
    headers: { ...headers, ETag: `W/"${hash}"`, "Content-Encoding": encoding },
    body: new Uint8Array(await compressors[encoding](text)),
  })
  let bytes: Uint8Array<ArrayBuffer> | undefined
  return {
    hash,
    text,
    /** The text in UTF-8, as it is sent: encoding it for each response costs more than all else. */
    bytes: () => (bytes ??= encoder.encode(text)),
    headers,
    encodings,
    encoded: (encoding: Encoding): Promise<Encoded> => made.getOrInsertComputed(encoding, encode),
  }
}
