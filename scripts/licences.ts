// Fails if a production dependency of any app or package has a licence that is not on the list.
import { execFileSync } from "node:child_process"
import { join } from "node:path"

const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
])

/** One licence's packages, as `pnpm licenses list --json` groups them. */
type LicenceGroups = Readonly<
  Record<string, readonly { readonly name: string; readonly versions: readonly string[] }[]>
>

/**
 * Whether an SPDX expression allows use under some allowed licence: one side of an OR is enough, an AND needs both. Nested
 * parentheses are rejected: a person should read those.
 */
export const isAllowed = (expression: string): boolean => {
  const bare = expression.trim().replace(/^\(([^()]*)\)$/, "$1")
  return bare.split(" OR ").some((side) => side.split(" AND ").every((licence) => allowed.has(licence.trim())))
}

/** Each package whose licence isn't allowed, as one line for people. */
export const refusedPackages = (groups: LicenceGroups): readonly string[] =>
  Object.entries(groups).flatMap(([licence, packages]) =>
    isAllowed(licence) ? [] : packages.map(({ name, versions }) => `${name}@${versions.join(", ")}: ${licence}`),
  )

if (import.meta.main) {
  const answer = execFileSync("pnpm", ["licenses", "list", "--json", "--prod", "--filter", "@svc/*"], {
    cwd: join(import.meta.dirname, ".."),
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
}
