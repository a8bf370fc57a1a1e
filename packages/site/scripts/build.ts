// Bundles what runs in browsers into dist/: an entry of browser/ each, with a hash in the file's name.
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { build } from "esbuild"

const folder = join(import.meta.dirname, "..")
const dist = join(folder, "dist")

const { outputFiles } = await build({
  absWorkingDir: folder,
  entryPoints: ["browser/site.ts", "browser/live.tsx", "browser/console.tsx"],
  entryNames: "[name].[hash]",
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
  write: false,
})
await mkdir(dist, { recursive: true })
for (const { path, contents } of outputFiles) {
  // Whole or not there: a server may start while this runs.
  await writeFile(`${path}.new`, contents)
  await rename(`${path}.new`, path)
}
const made = new Set(outputFiles.map(({ path }) => basename(path)))
for (const file of await readdir(dist)) if (!made.has(file)) await rm(join(dist, file), { recursive: true })
