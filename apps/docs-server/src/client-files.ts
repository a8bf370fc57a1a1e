import { parseTarGzip } from "nanotar"
import { createDocument, type Document } from "./site/documents.ts"

const scripts = /^package\/([\w-]+(\.js|\.d\.ts))$/

/** The scripts and types in the client library's package, by the path at which pages import them. */
export const readClientFiles = async (packed: Uint8Array<ArrayBuffer>): Promise<ReadonlyMap<string, Document>> =>
  new Map(
    (await parseTarGzip(packed)).flatMap((entry) => {
      const [, file, ending] = scripts.exec(entry.name) ?? []
      if (file === undefined) return []
      const type = ending === ".js" ? "text/javascript" : "text/typescript"
      // Tells Deno and editors where the types are.
      const types = ending === ".js" ? { "X-TypeScript-Types": `./${file.replace(".js", ".d.ts")}` } : {}
      return [[`/client/${file}`, createDocument(`${type}; charset=utf-8`, entry.text, types, ["br", "gzip"])]]
    }),
  )
