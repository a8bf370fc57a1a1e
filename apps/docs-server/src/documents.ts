import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { acceptsGzip, matchesETag } from "@svc/http"
import { hashOf } from "./corpus.ts"

/** On every answer: these documents are for any page and any agent to read. */
export const commonHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Mcp-Session-Id, X-Request-Id",
  "X-Content-Type-Options": "nosniff",
} as const

export const preflightHeaders = {
  ...commonHeaders,
  "Access-Control-Allow-Methods": "GET, HEAD, POST, OPTIONS",
  "Access-Control-Allow-Headers":
    "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID",
  "Access-Control-Max-Age": "86400",
} as const

export const jsonType = "application/json; charset=utf-8"
export const markdownType = "text/markdown; charset=utf-8"

/** Text with all that a GET of it needs, made once. */
export type Document = {
  readonly hash: string
  readonly text: string
  readonly headers: Readonly<Record<"plain" | "gzipped", Readonly<Record<string, string>>>>
  readonly gzipped: () => Promise<Uint8Array<ArrayBuffer>>
}

const compress = promisify(gzip)
// Below this gzip saves less than its own header costs.
const worthCompressing = 1024

export const createDocument = (type: string, text: string, more: Readonly<Record<string, string>> = {}): Document => {
  let packed: Promise<Uint8Array<ArrayBuffer>> | undefined
  const hash = hashOf(text)
  const plain = {
    ...commonHeaders,
    "Content-Type": type,
    "Cache-Control": "public, max-age=300",
    Vary: "Accept, Accept-Encoding",
    ...more,
    ETag: `"${hash}"`,
  }
  // The same text in another encoding is not the same bytes: its tag is weak.
  const gzipped = { ...plain, ETag: `W/"${hash}"`, "Content-Encoding": "gzip" }
  return {
    hash,
    text,
    headers: { plain, gzipped },
    gzipped: () => (packed ??= compress(text).then((bytes) => new Uint8Array(bytes))),
  }
}

/** What an answer is made of. */
export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | null
}

/** Answers a GET or HEAD: 304 where the caller has this text, else the text, compressed where that is taken. */
export const answerDocument = (
  document: Document,
  header: (name: string) => string | undefined,
): Answer | Promise<Answer> => {
  const { hash, text, headers } = document
  const zip = text.length >= worthCompressing && acceptsGzip(header("accept-encoding"))
  if (matchesETag(header("if-none-match"), [`"${hash}"`])) {
    const { "Content-Encoding": _encoding, ...kept } = zip ? headers.gzipped : headers.plain
    return { status: 304, headers: kept, body: null }
  }
  if (!zip) return { status: 200, headers: headers.plain, body: text }
  return document.gzipped().then((body) => ({ status: 200, headers: headers.gzipped, body }))
}
