import { readFileSync } from "node:fs"
import { join } from "node:path"
import { hashOf } from "../corpus.ts"
import { type Document, createDocument } from "../documents.ts"

const folder = join(import.meta.dirname, "../../assets")
const kept = { "Cache-Control": "public, max-age=31536000, immutable", Vary: "Accept-Encoding" }

const read = (
  name: string,
  extension: string,
  type: string,
): { readonly path: string; readonly document: Document } => {
  const text = readFileSync(join(folder, `${name}.${extension}`), "utf8")
  const path = `/assets/${name}.${hashOf(text).slice(0, 12)}.${extension}`
  return { path, document: createDocument(type, text, kept, ["br", "gzip"]) }
}

/** The one style sheet and the one script of all pages. Their names change with their text, so they are kept for a year. */
export const styles = read("site", "css", "text/css; charset=utf-8")
export const script = read("site", "js", "text/javascript; charset=utf-8")

export const assets: ReadonlyMap<string, Document> = new Map(
  [styles, script].map(({ path, document }) => [path, document]),
)
