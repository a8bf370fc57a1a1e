// `pnpm bench`: the benchmarks of all apps and packages, one after another, so that none takes the machine from another;
// `pnpm bench relay` runs one's, `pnpm bench relay limits` a part of them. What takes all services together is of the "whole".
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { basename, delimiter, join } from "node:path"
import { z } from "zod"

const root = join(import.meta.dirname, "..")
const manifest = z.object({ scripts: z.record(z.string(), z.string()).default({}) })
const folders = ["apps", "packages"].flatMap((kind) =>
  readdirSync(join(root, kind)).map((name) => join(root, kind, name)),
)
const benchmarks = [...folders, root].flatMap((folder) => {
  const app = folder === root ? "whole" : basename(folder)
  const { scripts } = manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")))
  return Object.entries(scripts).flatMap(([name, command]) =>
    (name === "bench" && folder !== root) || name.startsWith("bench:") ? [{ app, folder, name, command }] : [],
  )
})

const [wanted, part] = process.argv.slice(2)
const chosen = benchmarks.filter(
  ({ app, name }) =>
    (wanted === undefined || app === wanted || app.startsWith(`${wanted}-`)) &&
    (part === undefined || name === `bench:${part}`),
)
if (chosen.length === 0) {
  console.error(`no benchmarks for ${wanted}: there are ${[...new Set(benchmarks.map(({ app }) => app))].join(", ")}`)
  process.exit(2)
}
for (const { app, folder, name, command } of chosen) {
  console.log(`\n${app}: ${name}\n`)
  const path = [join(folder, "node_modules/.bin"), join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter)
  const { status } = spawnSync(command, {
    cwd: folder,
    shell: true,
    stdio: "inherit",
    env: { ...process.env, PATH: path },
  })
  if (status !== 0) process.exitCode = 1
}
