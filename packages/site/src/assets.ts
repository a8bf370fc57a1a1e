import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A file that pages load. Its path changes with its text, so it can be cached for good. */
export type Asset = { readonly path: string; readonly type: string; readonly text: string }

const types = { css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" }
const folder = join(import.meta.dirname, "..")

/** What browsers ask for at /favicon.ico, whatever a page says. */
export const favicon = new Uint8Array(readFileSync(join(folder, "assets/favicon.ico")))

const styleText = readFileSync(join(folder, "assets/site.css"), "utf8")
const styleHash = createHash("sha256").update(styleText).digest("hex").slice(0, 12)
export const styles: Asset = { path: `/assets/site.${styleHash}.css`, type: types.css, text: styleText }

const dist = join(folder, "dist")

/** The files of a bundle, or none where they have not been built. */
const bundle = (name: string): readonly Asset[] =>
  (existsSync(dist) ? readdirSync(dist) : []).flatMap((file) => {
    const [, entry, extension] = /^([a-z]+)\.\w+\.(css|js)$/.exec(file) ?? []
    if (entry !== name || (extension !== "css" && extension !== "js")) return []
    return [{ path: `/assets/${file}`, type: types[extension], text: readFileSync(join(dist, file), "utf8") }]
  })

/** What `pnpm build` made of browser/: `site` is for every page, `live` for pages with a panel, `console` for that page alone. */
export const bundles = { site: bundle("site"), live: bundle("live"), console: bundle("console") }

export type BundleName = keyof typeof bundles
