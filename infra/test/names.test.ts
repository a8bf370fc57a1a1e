// A setting that a text names is one that the code has. What isn't code is written by hand: pages, alerts, env files,
// READMEs, comments of deployment files.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const git = (...args: readonly string[]): string[] =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })
    .split("\n")
    .filter(Boolean)
const read = (file: string): string => readFileSync(join(root, file), "utf8")

const texts = git(
  "ls-files",
  "*.md",
  "*.mdx",
  "*.yaml",
  "*.yml",
  "*.example",
  "*.cfg",
  "*.conf",
  "*.json",
  "infra/Caddyfile",
  "infra/Dockerfile",
).filter((file) => !file.endsWith("openapi.json"))
const code = git("ls-files", "*.ts", "*.sh", ".ci/run", ":!*.test.ts", ":!**/test/**").map(read).join("\n")

test("every SVC_ variable that a text names is read by the code, or set where the text says", () => {
  // What compose fills in, and what operations.md sets itself, stands in those files.
  const filledIn =
    texts
      .map(read)
      .join("\n")
      .match(/\$\{SVC_\w+|: "\$\{SVC_\w+|\{\$SVC_\w+/g) ?? []
  const known = new Set([
    ...(code.match(/\bSVC_[A-Z0-9_]+/g) ?? []),
    ...filledIn.map((name) => name.replace(/^\W*/, "")),
  ])
  // Told as what is never read, and what the tests' own setup reads.
  for (const name of ["SVC_READ_RPC_URL", "SVC_FUZZ_SEED"]) known.add(name)
  const isKnown = (name: string): boolean =>
    known.has(name) || (name.endsWith("_") && [...known].some((one) => one.startsWith(name)))
  const unknown = texts.flatMap((file) =>
    [...new Set(read(file).match(/\bSVC_[A-Z0-9_]+/g))]
      .filter((name) => !isKnown(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(unknown).toEqual([])
})
