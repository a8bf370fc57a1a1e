// The licences that dependencies may have.

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
export type LicenceGroups = Readonly<
  Record<string, readonly { readonly name: string; readonly versions: readonly string[] }[]>
>

/**
 * Whether an SPDX expression allows use under some allowed licence: one side of an OR is enough, an AND needs both. Nested
 * parentheses are refused: a person should read those.
 */
export const isAllowed = (expression: string): boolean => {
  const bare = expression.trim().replace(/^\(([^()]*)\)$/, "$1")
  return bare.split(" OR ").some((side) => side.split(" AND ").every((licence) => allowed.has(licence.trim())))
}

/** Each package whose licence is not allowed, as one line for people. */
export const refusedPackages = (groups: LicenceGroups): readonly string[] =>
  Object.entries(groups).flatMap(([licence, packages]) =>
    isAllowed(licence) ? [] : packages.map(({ name, versions }) => `${name}@${versions.join(", ")}: ${licence}`),
  )
