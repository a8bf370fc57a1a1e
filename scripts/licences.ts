// Fails when a production dependency of any app or package has a licence that is not on the list.
import { execFileSync } from "node:child_process"
import { join } from "node:path"

import { type LicenceGroups, refusedPackages } from "./licence-rules.ts"

const root = join(import.meta.dirname, "..")
const answer = execFileSync("pnpm", ["licenses", "list", "--json", "--prod", "--filter", "@svc/*"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
})
// Without any dependency pnpm prints a sentence.
const groups: LicenceGroups = answer.startsWith("{") ? JSON.parse(answer) : {}
const refused = refusedPackages(groups)
const count = Object.values(groups).flat().length
if (count === 0) {
  console.error(`licences: pnpm named no dependency: ${answer.slice(0, 200)}`)
  process.exitCode = 1
} else if (refused.length > 0) {
  console.error(`licences not on the list:\n${refused.map((line) => `  ${line}`).join("\n")}`)
  process.exitCode = 1
} else {
  const kinds = Object.entries(groups).map(([licence, packages]) => `${licence} ${packages.length}`)
  console.log(`${count} production dependencies, every licence allowed: ${kinds.join(", ")}`)
}
