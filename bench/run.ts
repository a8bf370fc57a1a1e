// `pnpm bench` runs all benchmarks one after another, so they don't share the machine. `pnpm bench relay` runs one.
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const programs: Readonly<Record<string, string>> = {
  docs: "bench/docs-server.ts",
  relay: "bench/relay.ts",
  platform: "bench/platform-api.ts",
  stream: "bench/local-stream.ts",
}
const [wanted] = process.argv.slice(2)
const chosen = Object.entries(programs).filter(([name]) => wanted === undefined || wanted === name)
if (chosen.length === 0) {
  console.error(`no benchmark is named ${wanted}: there are ${Object.keys(programs).join(", ")}`)
  process.exitCode = 2
}
for (const [name, file] of chosen) {
  console.log(`\n${name}\n`)
  const { status } = spawnSync(process.execPath, [join(root, file)], { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exitCode = 1
}
