import { execFile } from "node:child_process"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { build } from "esbuild"

/** The folder of the package. */
export const library = join(import.meta.dirname, "..")

/** Bundles the library into `folder`/svc-client.js, for browsers and Node 20 alike. */
export const bundle = async (folder: string, { minify = false }: { readonly minify?: boolean } = {}): Promise<void> => {
  await build({
    entryPoints: [join(library, "src/index.ts")],
    outfile: join(folder, "svc-client.js"),
    absWorkingDir: library,
    bundle: true,
    minify,
    platform: "neutral",
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  })
}

/** Writes the types that an editor explains into `folder`/types. */
export const types = async (folder: string): Promise<void> => {
  const out = join(folder, "types")
  const tsc = join(library, "node_modules/.bin/tsc")
  const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--outDir", out]
  await promisify(execFile)(tsc, ["-p", join(library, "tsconfig.json"), ...options])
  for (const file of await readdir(out)) {
    const text = await readFile(join(out, file), "utf8")
    // An importer's compiler knows no TypeScript sources here.
    await writeFile(join(out, file), text.replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'))
  }
}
