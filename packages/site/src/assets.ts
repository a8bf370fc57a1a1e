import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** A file that pages load. Its path changes with its text, so it can be cached for good. */
export type Asset = { readonly path: string; readonly type: string; readonly text: string }

const read = (extension: string, type: string): Asset => {
  const text = readFileSync(join(import.meta.dirname, `../assets/site.${extension}`), "utf8")
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12)
  return { path: `/assets/site.${hash}.${extension}`, type, text }
}

/** What browsers ask for at /favicon.ico, whatever a page says. */
export const favicon = new Uint8Array(readFileSync(join(import.meta.dirname, "../assets/favicon.ico")))

export const styles = read("css", "text/css; charset=utf-8")
export const script = read("js", "text/javascript; charset=utf-8")
