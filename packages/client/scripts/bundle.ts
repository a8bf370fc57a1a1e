import { execFile } from "node:child_process"
import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { build as esbuild, type BuildOptions, type Plugin } from "esbuild"

/** The folder of the package. */
export const library = join(import.meta.dirname, "..")

/** What is loaded when it is first used: each a file of its own, which shares no code with the rest. */
const loadedLater = {
  changes: "platform/changes",
  "indexed-db": "journal/indexed-db",
  "simulation-cause": "journal/simulation-cause",
  "stream-watch": "stream/stream-watch",
  "transport-methods": "relay/transport-methods",
  where: "stream/where",
}

/** All files that `bundle` makes. */
export const bundled = ["svc-client.js", "node.js", ...Object.keys(loadedLater).map((name) => `${name}.js`)]

const laterByThemselves: Plugin = {
  name: "loaded later",
  setup: (build) =>
    build.onResolve({ filter: /^\.\/[\w-]+\.ts$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: path.replace(".ts", ".js"), external: true } : undefined,
    ),
}

/** Bundles the library into `folder`: svc-client.js for browsers and Node alike, what it loads later, and node.js for Node alone. */
export const bundle = async (folder: string, { minify = false }: { readonly minify?: boolean } = {}): Promise<void> => {
  const source = (file: string) => join(library, `src/${file}.ts`)
  const options = {
    absWorkingDir: library,
    bundle: true,
    minify,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
    outdir: folder,
    plugins: [laterByThemselves],
  } satisfies BuildOptions
  const later = Object.entries(loadedLater).map(([name, file]) => [name, source(file)])
  const neutral = { "svc-client": source("index"), ...Object.fromEntries(later) }
  await esbuild({ ...options, platform: "neutral", entryPoints: neutral })
  await esbuild({ ...options, platform: "node", entryPoints: { node: source("node") } })
}

/** Writes the types into `folder`, where an editor finds them beside the scripts: the library's own and those that it takes from @svc/common. */
export const types = async (folder: string): Promise<void> => {
  const parts = join(folder, ".types")
  const tsc = join(library, "node_modules/.bin/tsc")
  const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--outDir", parts]
  await promisify(execFile)(tsc, ["-p", join(library, "tsconfig.json"), ...options])
  // All in one folder, which an importer's compiler finds without knowing TypeScript sources or @svc/common.
  const names = /(from ")(?:@svc\/common|\.\.?)(?:\/[\w-]+)*(\/[\w-]+)(?:\.ts)?"/g
  for (const part of ["client/src", "common/src"]) {
    const files = await readdir(join(parts, part), { recursive: true, withFileTypes: true })
    for (const { parentPath, name } of files.filter((entry) => entry.isFile())) {
      const text = await readFile(join(parentPath, name), "utf8")
      const out = name === "index.d.ts" && parentPath.endsWith(join("client/src")) ? "svc-client.d.ts" : name
      // Compilers before TypeScript 5.7 take no parameter.
      const older = text.replaceAll("Uint8Array<ArrayBuffer>", "Uint8Array")
      await writeFile(join(folder, out), older.replaceAll(names, '$1.$2.js"'))
    }
  }
  await rm(parts, { recursive: true })
}
