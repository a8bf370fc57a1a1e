// `pnpm lines`: counts the lines of source, without tests, benchmarks, migrations and generated files.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

const files = execFileSync("git", ["ls-files", "*.ts", "*.tsx", "*.css", "*.js", "*.cjs", "*.sh"], { encoding: "utf8" })
  .trim()
  .split("\n")
const left = /(^|\/)(test|bench|generated)\/|\.test\.tsx?$|^packages\/testing\//
const sizes = new Map<string, number>()
for (const file of files.filter((name) => !left.test(name))) {
  const folder = /^(apps|packages)\/[^/]+|^[^/]+/.exec(file)?.[0] ?? file
  sizes.set(folder, (sizes.get(folder) ?? 0) + readFileSync(file, "utf8").split("\n").length - 1)
}
for (const [folder, lines] of [...sizes].toSorted(([, a], [, b]) => b - a))
  console.log(String(lines).padStart(6), folder)
console.log(String([...sizes.values()].reduce((sum, lines) => sum + lines, 0)).padStart(6), "in all")
