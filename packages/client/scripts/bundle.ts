import { execFile } from "node:child_process"
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { build, type BuildOptions } from "esbuild"

/** The folder of the package. */
export const library = join(import.meta.dirname, "..")

/**
 * Bundles the library into `folder`: svc-client.js for browsers and Node 20 alike, changes.js, which it loads when changes
 * are followed, and node.js for Node alone.
 */
export const bundle = async (folder: string, { minify = false }: { readonly minify?: boolean } = {}): Promise<void> => {
  const options = {
    absWorkingDir: library,
    bundle: true,
    minify,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
    outdir: folder,
  } satisfies BuildOptions
  const source = (file: string) => join(library, "src", file)
  await build({
    ...options,
    platform: "neutral",
    splitting: true,
    chunkNames: "[name]",
    entryPoints: { "svc-client": source("index.ts") },
  })
  await build({ ...options, platform: "node", entryPoints: { node: source("node.ts") } })
}

/** Writes the types that an editor explains into `folder`/types: the library's own and those that it takes from @svc/common. */
export const types = async (folder: string): Promise<void> => {
  const out = join(folder, "types")
  const parts = join(folder, ".types")
  const tsc = join(library, "node_modules/.bin/tsc")
  const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--outDir", parts]
  await promisify(execFile)(tsc, ["-p", join(library, "tsconfig.json"), ...options])
  await rename(join(parts, "client/src"), out)
  // All in one folder, which an importer's compiler finds without knowing TypeScript sources or @svc/common.
  for (const taken of [join(out, "generated"), join(parts, "common/src")]) {
    for (const file of await readdir(taken)) await rename(join(taken, file), join(out, file))
    await rm(taken, { recursive: true })
  }
  await rm(parts, { recursive: true })
  for (const file of await readdir(out)) {
    const text = await readFile(join(out, file), "utf8")
    const names = /(from ")(?:@svc\/common|\.\/generated|\.)(\/[\w-]+)(?:\.ts)?"/g
    await writeFile(join(out, file), text.replaceAll(names, '$1.$2.js"'))
  }
}
