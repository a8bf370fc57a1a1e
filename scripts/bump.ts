// Sets the version of the images, svc-client, the tool and the skill file, and regenerates the files that contain it and the
// baseline that the next version is compared with. Usage: pnpm bump 1.2.3. Until a version is released, run it again
// with the same version to include later changes.
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const form = String.raw`(\d+\.\d+\.\d+)`

/** Files, and the text before the version in them. */
const places: readonly (readonly [files: string, before: string])[] = [
  ["apps/*/package.json", String.raw`^  "version": "`],
  ["packages/client/package.json", String.raw`^  "version": "`],
  ["infra/**/*.yaml", String.raw`\bimage: svc/[a-z-]+:(?:\$\{SVC_VERSION:-)?|\bnewTag: `],
  ["infra/env/compose.env.example", "^#SVC_VERSION="],
  ["docs/operations.md", String.raw`\bsvc/[a-z-]+:`],
  ["apps/docs-server/content/skill.md", "^version: "],
]

type Place = { readonly file: string; readonly pattern: RegExp }

const placesIn = (root: string): Place[] =>
  places.flatMap(([files, before]) =>
    globSync(files, { cwd: root, exclude: (name) => name === "node_modules" }).map((file) => ({
      file,
      pattern: new RegExp(`(${before})${form}`, "gm"),
    })),
  )

/** All versions below this folder, with their files. */
export const versionsIn = (root: string): { readonly file: string; readonly version: string }[] =>
  placesIn(root).flatMap(({ file, pattern }) =>
    [...readFileSync(join(root, file), "utf8").matchAll(pattern)].map(([, , version = ""]) => ({ file, version })),
  )

const numbers = (version: string): number[] => version.split(".").map(Number)

const isOlder = (version: string, than: string): boolean => {
  const [a, b] = [numbers(version), numbers(than)]
  const at = a.findIndex((part, index) => part !== b[index])
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0)
}

/** The text below a heading, down to the next one of that rank. */
const sectionOf = (text: string, heading: string): string => text.split(`\n## ${heading}\n`)[1]?.split(/\n## /)[0] ?? ""

/** Writes a version to all its places below this folder. Throws an Error with the next step if it can't be the next version. */
export const setVersion = (root: string, version: string): void => {
  if (!new RegExp(`^${form}$`).test(version)) throw new Error(`${version} isn't a version: give one such as 1.2.3`)
  const now = versionsIn(root)
  const newer = now.find((one) => isOlder(version, one.version))
  if (newer !== undefined) throw new Error(`${version} is older than ${newer.version} in ${newer.file}`)
  const read = (file: string): string => readFileSync(join(root, file), "utf8")
  if (!/^- /m.test(sectionOf(read("CHANGELOG.md"), version))) {
    throw new Error(`CHANGELOG.md says nothing about ${version}: add a section "## ${version}" with a list`)
  }
  if (!sectionOf(read("apps/docs-server/content/skill.md"), "What's new").includes(`Version ${version}: `)) {
    throw new Error(`skill.md doesn't say what is new: add "Version ${version}: …" below "What's new"`)
  }
  for (const { file, pattern } of placesIn(root)) {
    writeFileSync(
      join(root, file),
      read(file).replaceAll(pattern, (_, before: string) => `${before}${version}`),
    )
  }
}

if (import.meta.main) {
  try {
    setVersion(join(import.meta.dirname, ".."), process.argv[2] ?? "")
    await import("./openapi.ts")
    const { writeReleased } = await import("./released.ts")
    writeReleased()
  } catch (error) {
    console.error(`bump: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
